/** The server is killed at every write of a migration to another API server and back. A repeated migration must give the same result. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRequest, openMemoryStore, replicaFrames, StoreError } from '@hangar/store';
import type { CommitResult, ReplicaFrame, Revision, Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import { isOmitted } from './replica-view.ts';
import { elsewhere } from './testing.ts';

const path = planePath('demo');
const replica = `${tenants}/demo/replica`;
const prefix = '/registry/clusters/demo/';

/** Store that stops working at one transaction on the tenant: before it, or after it was written and before the answer. */
class DyingStore extends ForwardingStore {
  readonly #at: number;
  readonly #isWritten: boolean;
  commits = 0;
  isDead = false;

  constructor(store: Store, at: number, isWritten: boolean) {
    super(store);
    this.#at = at;
    this.#isWritten = isWritten;
  }

  override async commit(writes: readonly Write[]): Promise<CommitResult> {
    const isCounted = writes.some((write) => 'key' in write && write.key.startsWith(prefix));
    if (this.isDead || (isCounted && this.commits++ === this.#at)) {
      if (!this.isDead && this.#isWritten) await this.store.commit(writes);
      this.isDead = true;
      throw new StoreError('Unavailable', 'killed');
    }
    return this.store.commit(writes);
  }
}

/** Returns the content of the tenant as frames, with a ConfigMap less, so that the copy shows which side it is. */
async function contentFrames(store: Store): Promise<{ frames: ReplicaFrame[]; last: Revision }> {
  const stop = new AbortController();
  const frames: ReplicaFrame[] = [];
  for await (const frame of replicaFrames(store, { prefix, omits: isOmitted, signal: stop.signal })) {
    if (frame.type === 'snapshot') {
      const last = (frame.revision + 10) as Revision;
      frames.push(frame, {
        type: 'batch',
        revision: last,
        after: frame.revision,
        puts: [],
        deletes: ['configmaps/default/gone'],
      });
      return { frames, last };
    }
    frames.push(frame);
  }
  throw new Error('the stream ended');
}

test('a migration that is interrupted at any write and repeated ends with the same content', async () => {
  let count = Infinity;
  for (const isWritten of [false, true]) {
    for (let at = 0; at < count; at++) {
      const memory = await openMemoryStore();
      {
        await using server = await TenancyServer.open({ store: memory });
        await server.make('demo');
        for (const name of ['gone', 'kept']) {
          await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name) });
        }
      }
      const { frames, last } = await contentFrames(memory);
      const half = frames.length >> 1;
      const steps: (readonly [string, (object | Uint8Array)?])[] = [
        [`${tenants}/demo/hold?id=to`],
        [`${tenants}/demo/remote?id=to`, { spec: elsewhere }],
        [`${replica}?id=back&action=start`],
        [`${replica}?id=back&action=receive`, encodeRequest(frames.slice(0, half))],
        [`${replica}?id=back&action=receive`, encodeRequest(frames.slice(half))],
        [`${tenants}/demo/hold?id=back`],
        [`${replica}?id=back&action=serve&revision=${last}`],
      ];
      const store = new DyingStore(memory, at, isWritten);
      let [done, current]: [number, Store] = [0, store];
      for (let lives = 0; done < steps.length; lives++) {
        assert.ok(lives < 3, `step ${done} does not succeed`);
        await using server = await TenancyServer.open({ store: current });
        for (; done < steps.length; done++) {
          const [target, body] = steps[done]!;
          const { status } = await server.answer('POST', target, body ? { body } : {});
          if (status !== 201) break;
        }
        current = memory;
      }
      count = store.isDead ? count : store.commits;
      await using server = await TenancyServer.open({ store: memory });
      const { items } = await server.expect(200, 'GET', `${path}${configMaps}`);
      const names = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
      assert.ok(names.includes('kept') && !names.includes('gone'), `at ${at}: ${names.join()}`);
      const { status } = await server.expect(200, 'GET', `${replica}?state=true`);
      assert.deepEqual(status, { serving: 'Local' });
      await memory.close();
    }
  }
  assert.ok(count >= 8 && count < 100, String(count));
});
