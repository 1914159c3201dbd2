import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { Client, HttpAnswer, HttpRequest, UnknownObject } from '@hangar/client';
import { seededRandom } from '@hangar/core';
import { RuntimeError } from '../../errors.ts';
import type { Ownership } from '../contract.ts';
import { Fence } from './fence.ts';
import { fencedClient } from './fenced-client.ts';
import { clientOf, CountedTime, okay } from './testing/engine-world.ts';

const configMap = defineKind<UnknownObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});
const key = { namespace: 'x', name: 'y' };
const object = { metadata: key };
const by = { fieldManager: 'test' };

function world(leftMs = Infinity) {
  const clock = new CountedTime(seededRandom(1));
  const right = { leftMs, checks: 0, isOver: false };
  const ownership: Ownership = {
    token: 1,
    signal: new AbortController().signal,
    check() {
      right.checks++;
      if (right.isOver) throw new RuntimeError('Fenced', 'over');
    },
    remainingMs: () => right.leftMs,
  };
  const fence = new Fence({ name: 'a', clock, ownership });
  const sent: HttpRequest[] = [];
  let answer = (_request: HttpRequest): Promise<HttpAnswer> => Promise.resolve(okay);
  const client = fencedClient(
    clientOf((request) => {
      sent.push(request);
      return answer(request);
    }),
    fence,
  );
  const hang = (): void => void (answer = () => new Promise(() => {}));
  return { clock, right, fence, client, sent, hang };
}

const writes: Record<string, (client: Client, signal?: AbortSignal) => Promise<unknown>> = {
  create: (client, signal) => client.create(configMap, object, { signal }),
  update: (client, signal) => client.update(configMap, object, { signal }),
  patch: (client, signal) => client.patch(configMap, key, { type: 'merge', body: {} }, { signal }),
  apply: (client, signal) => client.apply(configMap, object, { ...by, signal }),
  delete: (client, signal) => client.delete(configMap, key, { signal }),
  deleteCollection: (client, signal) => client.deleteCollection(configMap, { namespace: 'x', signal }),
  'status.update': (client, signal) => client.status.update(configMap, object, { signal }),
  'status.patch': (client, signal) => client.status.patch(configMap, key, { type: 'merge', body: {} }, { signal }),
  'status.apply': (client, signal) => client.status.apply(configMap, object, { ...by, signal }),
  'subresource.create': (client, signal) => client.subresource('token').create(configMap, key, {}, { signal }),
  'metadata.patch': (client, signal) => client.metadata.patch(configMap, key, { type: 'merge', body: {} }, { signal }),
  'metadata.delete': (client, signal) => client.metadata.delete(configMap, key, { signal }),
  'raw POST': (client, signal) => client.raw({ method: 'POST', target: '/api/v1/namespaces', signal }),
  'raw exec': (client, signal) =>
    client.raw({ method: 'GET', target: '/api/v1/namespaces/x/pods/y/exec?command=rm', signal }),
  'raw proxy': (client, signal) =>
    client.raw({ method: 'GET', target: '/api/v1/namespaces/x/services/y/proxy/delete', signal }),
};

const reads: Record<string, (client: Client) => Promise<unknown>> = {
  get: (client) => client.get(configMap, key),
  list: (client) => client.list(configMap),
  listAll: (client) => Array.fromAsync(client.listAll(configMap)),
  watch: (client) => Array.fromAsync(client.watch(configMap)),
  'status.get': (client) => client.status.get(configMap, key),
  'metadata.get': (client) => client.metadata.get(configMap, key),
  'metadata.list': (client) => client.metadata.list(configMap),
  'raw GET': (client) => client.raw({ method: 'GET', target: '/version' }),
};

describe('a fenced client', () => {
  for (const [name, write] of Object.entries(writes)) {
    test(`sends ${name} while the right lasts, and nothing after`, async () => {
      const { client, right, sent, fence } = world();
      await write(client);
      assert.deepEqual([sent.length, right.checks], [1, 1]);
      right.isOver = true;
      await assert.rejects(write(client), { code: 'Fenced' });
      right.isOver = false;
      fence.close();
      await assert.rejects(write(client), { code: 'Fenced' });
      assert.equal(sent.length, 1);
    });

    test(`breaks ${name} off when the right can no longer be proven`, async () => {
      const { client, right, hang, clock } = world(1_000);
      hang();
      const writing = assert.rejects(write(client), { code: 'Fenced' });
      // A renewal during the write extends the deadline.
      await clock.advance(500);
      right.leftMs = 2_000;
      await clock.advance(500);
      right.leftMs = 0;
      await clock.advance(2_000);
      await writing;
      assert.equal(clock.timers, 0);
    });

    test(`ends ${name} with the caller's signal`, async () => {
      for (const leftMs of [Infinity, 1_000]) {
        const { client, clock, sent } = world(leftMs);
        const caller = new AbortController();
        caller.abort();
        // Without a limit the transport itself must observe the signal.
        if (leftMs === Infinity) {
          await write(client, caller.signal).catch(() => {});
          for (const { signal } of sent) assert.equal(signal?.aborted, true);
        } else await assert.rejects(write(client, caller.signal), { code: 'Aborted' });
        assert.equal(clock.timers, 0);
      }
    });
  }

  for (const [name, read] of Object.entries(reads)) {
    test(`reads by ${name} whatever the right`, async () => {
      const { client, right, sent, fence } = world();
      right.isOver = true;
      fence.close();
      await read(client);
      assert.deepEqual([sent.length, right.checks], [1, 0]);
    });
  }

  test('asks for the right before anything else happens', async () => {
    const { client, right } = world();
    const writing = client.create(configMap, object);
    assert.equal(right.checks, 1);
    await writing;
  });

  test('leaves no listener and no timer behind', async () => {
    const { client, clock } = world(1_000);
    const caller = new AbortController();
    let listeners = 0;
    const { signal } = caller;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...given: Parameters<typeof add>) => (listeners++, add(...given));
    signal.removeEventListener = (...given: Parameters<typeof remove>) => (listeners--, remove(...given));
    await client.create(configMap, object, { signal });
    await client.delete(configMap, key, { signal });
    assert.deepEqual([listeners, clock.timers], [0, 0]);
  });

  test('does not close what is not its own', async () => {
    let isClosed = false;
    const { fence } = world();
    await fencedClient(
      clientOf(
        () => Promise.resolve(okay),
        () => (isClosed = true),
      ),
      fence,
    ).close();
    assert.equal(isClosed, false);
  });
});
