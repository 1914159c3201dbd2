import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { absent, CompactedError, openMemoryStore } from '@hangar/store';
import type { CommitResult, Revision, Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import type { TenantQuota } from '../tenant.ts';
import { QuotaStore } from './quota-store.ts';

const prefix = '/registry/clusters/demo/';
const key = (name: string, kind = 'configmaps/default'): string => `${prefix}${kind}/${name}`;
const create = (name: string, bytes = 10, kind?: string): Write => ({
  type: 'put',
  key: key(name, kind),
  value: Buffer.alloc(bytes, 'x'),
  expected: absent,
});

/** Opens a tenant with a quota that the test changes; `born` are the keys of the base. */
async function tenant(quota: TenantQuota, { store, born = [] }: { store?: Store; born?: readonly string[] } = {}) {
  const raw = store ?? (await openMemoryStore());
  const state = { quota: quota as TenantQuota | undefined };
  const view = new QuotaStore({
    view: raw,
    store: raw,
    clock: systemClock,
    storePrefix: '/registry',
    prefix,
    path: 'demo',
    quota: () => state.quota,
    isBornWith: (one) => born.includes(one),
  });
  return { raw, view, state };
}

const refusal = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (error) {
    const { status } = error as { status: { code: number; reason: string; message: string } };
    assert.deepEqual([status.code, status.reason], [403, 'Forbidden']);
    return status.message;
  }
  return assert.fail('it was not refused');
};

const committed = async (promise: Promise<CommitResult>): Promise<Revision> => {
  const result = await promise;
  assert.ok(result.committed);
  return result.revision;
};

describe('a quota of objects', () => {
  test('counts what was there before, and refuses in kube-apiserver’s words', async () => {
    const { raw, view } = await tenant({ objects: 3 });
    await raw.commit([create('a'), create('b')]);
    await committed(view.commit([create('c')]));
    assert.equal(
      await refusal(view.commit([create('d')])),
      'configmaps "d" is forbidden: exceeded quota: tenant "demo": requested: objects=1, used: objects=3, limited: objects=3',
    );
    await view.close();
  });

  test('has a status with what exceeds it', async () => {
    const { view } = await tenant({ objects: 0, objectsPerKind: { configmaps: 0 } });
    await assert.rejects(view.commit([create('a')]), (error: { status: { details: object } }) => {
      assert.deepEqual(error.status.details, {
        name: 'a',
        kind: 'configmaps',
        causes: [
          {
            reason: 'QuotaExceeded',
            message: 'objects: 0 of 0 are used, and 1 more are requested',
            field: 'spec.quota.objects',
          },
          {
            reason: 'QuotaExceeded',
            message: 'configmaps: 0 of 0 are used, and 1 more are requested',
            field: 'spec.quota.objectsPerKind[configmaps]',
          },
        ],
      });
      return true;
    });
    await view.close();
  });

  test('is not exceeded by what is created at once', async () => {
    const { raw, view } = await tenant({ objects: 10 });
    const all = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => view.commit([create(`c${i}`)])));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 10);
    assert.equal((await raw.statistics({ start: prefix })).keys, 10);
    await view.close();
  });

  test('gives back what failed', async () => {
    const { raw, view } = await tenant({ objects: 2 });
    await raw.commit([create('a')]);
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => view.commit([create('a')])));
    assert.ok(all.every((one) => one.status === 'fulfilled' && !one.value.committed));
    await committed(view.commit([create('b')]));
    await view.close();
  });

  test('lets those wait who would fit when others fail', async () => {
    const raw = await openMemoryStore();
    const { promise, resolve } = Promise.withResolvers<void>();
    /** Store whose first commit hangs, then fails. */
    class Failing extends ForwardingStore {
      #isFirst = true;
      override async commit(writes: readonly Write[]): Promise<CommitResult> {
        if (!this.#isFirst) return this.store.commit(writes);
        this.#isFirst = false;
        await promise;
        throw new Error('the disk is gone');
      }
    }
    const { view } = await tenant({ objects: 1 }, { store: new Failing(raw) });
    const first = view.commit([create('a')]);
    const second = view.commit([create('b')]);
    setTimeout(resolve, 20);
    await assert.rejects(first, /the disk is gone/);
    await committed(second);
    await refusal(view.commit([create('c')]));
    await view.close();
  });

  test('that is lower than what is there refuses growth alone', async () => {
    const { view, state } = await tenant({ objects: 5 });
    for (const name of ['a', 'b', 'c']) await committed(view.commit([create(name)]));
    state.quota = { objects: 1 };
    await refusal(view.commit([create('d')]));
    await committed(view.commit([{ type: 'put', key: key('a'), value: Buffer.alloc(500) }]));
    await committed(view.commit([{ type: 'delete', key: key('a') }]));
    await refusal(view.commit([create('d')]));
    await committed(view.commit([{ type: 'deleteRange', range: { start: key('b'), end: key('z') } }]));
    await committed(view.commit([create('d')]));
    state.quota = undefined;
    await committed(view.commit([create('e')]));
    await view.close();
  });

  test('is free again as soon as a deletion was acknowledged, whoever deleted', async () => {
    const raw = await openMemoryStore();
    /** Store that delivers events late, like a remote store. */
    class Late extends ForwardingStore {
      override watch(options: Parameters<Store['watch']>[0]): ReturnType<Store['watch']> {
        const watch = this.store.watch(options);
        const next = async () => {
          const batch = await watch.next();
          await seen();
          return batch;
        };
        return {
          next,
          requestProgress: () => watch.requestProgress(),
          close: () => watch.close(),
          async *[Symbol.asyncIterator]() {
            for (let batch = await next(); batch; batch = await next()) yield batch;
          },
        };
      }
    }
    const { view } = await tenant({ objects: 1 }, { store: new Late(raw) });
    await committed(view.commit([create('a')]));
    await committed(view.commit([{ type: 'delete', key: key('a') }]));
    await committed(view.commit([create('b')]));
    await committed(raw.commit([{ type: 'delete', key: key('b') }]));
    await committed(view.commit([create('c')]));
    await refusal(view.commit([create('d')]));
    await view.close();
  });

  test('does not count what every tenant is born with, nor what the server keeps', async () => {
    const { view } = await tenant({ objects: 1, storedBytes: 10_000 }, { born: ['namespaces/default'] });
    await committed(view.commit([create('default', 10, 'namespaces')]));
    await committed(view.commit([{ type: 'put', key: `${prefix}.hangar/usage`, value: Buffer.alloc(20_000) }]));
    await committed(view.commit([create('servicenodeports', 10, 'ranges')]));
    await committed(view.commit([create('a')]));
    await refusal(view.commit([create('b')]));
    await view.close();
  });

  test('follows what other servers write, and what ends by itself', async () => {
    const store = await openMemoryStore();
    const one = await tenant({ objects: 3 }, { store });
    const other = await tenant({ objects: 3 }, { store });
    await committed(one.view.commit([create('a')]));
    await committed(other.view.commit([create('b')]));
    const { id } = await store.grantLease(60_000);
    await committed(store.commit([{ ...create('e', 10, 'events/default'), lease: id } as Write]));
    await seen();
    await refusal(one.view.commit([create('c')]));
    await refusal(other.view.commit([create('c')]));
    await store.revokeLease(id);
    await committed(other.view.commit([create('c')]));
    await seen();
    await refusal(one.view.commit([create('d')]));
    await store.close();
  });

  test('reads nothing of a tenant without one', async () => {
    const raw = await openMemoryStore();
    let asked = 0;
    class Counting extends ForwardingStore {
      override range(...all: Parameters<Store['range']>): ReturnType<Store['range']> {
        asked++;
        return this.store.range(...all);
      }
      override watch(...all: Parameters<Store['watch']>): ReturnType<Store['watch']> {
        asked++;
        return this.store.watch(...all);
      }
    }
    const { view, state } = await tenant({ watches: 3, requestsPerSecond: 5 }, { store: new Counting(raw) });
    await committed(view.commit([create('a')]));
    state.quota = { objects: 5 };
    await committed(view.commit([{ type: 'delete', key: key('a') }]));
    assert.equal(asked, 0, 'not before something may grow');
    await committed(view.commit([create('b')]));
    assert.equal(asked, 2);
    await committed(view.commit([create('c')]));
    assert.equal(asked, 2, 'once');
    await view.close();
  });
});

describe('a quota of one kind', () => {
  test('is by the name of the resource, in its group', async () => {
    const quota = { objectsPerKind: { 'deployments.apps': 1, 'widgets.example.com': 1, 'events.events.k8s.io': 1 } };
    const { view } = await tenant(quota);
    for (const kind of ['deployments/default', 'example.com/widgets/default', 'events/default']) {
      await committed(view.commit([create('a', 10, kind)]));
      await refusal(view.commit([create('b', 10, kind)]));
      await committed(view.commit([create(`c-${kind.length}`)]));
    }
    assert.match(
      await refusal(view.commit([create('b', 10, 'deployments/default')])),
      /^deployments.apps "b" is forbidden: .* requested: deployments.apps=1, used: deployments.apps=1, limited: deployments.apps=1$/,
    );
    await view.close();
  });
});

describe('a quota of bytes', () => {
  const put = (name: string, bytes: number): Write => ({
    type: 'put',
    key: key(name),
    value: Buffer.alloc(bytes, 'x'),
  });
  const own = key('a').length;

  test('counts keys and values, and of an update the difference', async () => {
    const { view } = await tenant({ storedBytes: 1_000 });
    await committed(view.commit([create('a', 900 - own)]));
    await committed(view.commit([put('a', 950 - own)]));
    assert.match(
      await refusal(view.commit([put('a', 1_001 - own)])),
      /requested: storedBytes=51, used: storedBytes=950, limited: storedBytes=1000/,
    );
    await committed(view.commit([put('a', 1_000 - own)]));
    await refusal(view.commit([create('b', 1)]));
    await committed(view.commit([put('a', 100 - own)]));
    await committed(view.commit([create('b', 900 - own)]));
    await view.close();
  });

  test('counts of one transaction what comes and what goes', async () => {
    const { view } = await tenant({ storedBytes: 1_000 });
    await committed(view.commit([create('a', 900 - own)]));
    await committed(view.commit([{ type: 'delete', key: key('a') }, create('b', 950 - own)]));
    await view.close();
  });

  test('never keeps anything from ending', async () => {
    const { view } = await tenant({ storedBytes: 300 });
    const object = (more: object): Buffer => Buffer.from(JSON.stringify({ metadata: { name: 'a', ...more } }));
    const ending = { finalizers: ['example.com/x'], deletionTimestamp: '2026-01-01T00:00:00Z' };
    await committed(view.commit([{ type: 'put', key: key('a'), value: object({ finalizers: ['example.com/x'] }) }]));
    await committed(view.commit([create('b', 190 - own)]));
    await refusal(view.commit([create('c', 100)]));
    await refusal(view.commit([{ type: 'put', key: key('a'), value: object({ labels: { a: 'x'.repeat(100) } }) }]));
    await committed(view.commit([{ type: 'put', key: key('a'), value: object(ending) }]));
    const large = object({ ...ending, labels: { a: 'x'.repeat(5_000) } });
    await refusal(view.commit([{ type: 'put', key: key('a'), value: large }]));
    // With a note of the server in the same transaction.
    const note: Write = { type: 'put', key: `${prefix}ranges/servicenodeports`, value: Buffer.alloc(200) };
    await committed(view.commit([{ type: 'delete', key: key('a') }, note]));
    await view.close();
  });

  test('forgives the mark of an end, and no growth after it', async () => {
    const { raw, view } = await tenant({ storedBytes: 10 });
    const object = (more: object): Buffer => Buffer.from(JSON.stringify({ metadata: { name: 'a', ...more } }));
    const written = (more: object) => view.commit([{ type: 'put', key: key('a'), value: object(more) }]);
    const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    await committed(raw.commit([{ type: 'put', key: key('a'), value: object({}) }]));
    await committed(written(ending));
    for (let i = 0; i < 3; i++) await refusal(written({ ...ending, labels: { a: 'x' } }));
    await committed(written({ deletionTimestamp: '2026-01-01T00:00:09Z' }));
    await view.close();
  });

  test('counts an object’s growth beside a deletion, and only small notes are free', async () => {
    const { raw, view } = await tenant({ storedBytes: 1_000 }, { born: ['configmaps/default/born'] });
    await raw.commit([create('a', 500), create('b', 100), create('c', 10), create('born', 10)]);
    const gone: Write = { type: 'delete', key: key('c') };
    const note = (bytes: number): Write => ({ type: 'put', key: key('ports', 'ranges'), value: Buffer.alloc(bytes) });
    for (const name of ['a', 'born']) await refusal(view.commit([put(name, 900), gone]));
    await refusal(view.commit([note(5_000), gone]));
    await committed(view.commit([note(4_000), gone]));
    await refusal(view.commit([note(4_010)]));
    await view.close();
  });

  test('holds no more than is needed: what is replaced is not refused for being written twice', async () => {
    const { view } = await tenant({ storedBytes: 1_000 });
    await committed(view.commit([create('a', 600 - own)]));
    const all = await Promise.all(Array.from({ length: 20 }, () => view.commit([put('a', 600 - own)])));
    assert.ok(all.every((one) => one.committed));
    await view.close();
  });
});

test('it counts anew when it could not follow', async () => {
  const raw = await openMemoryStore();
  let watches = 0;
  /** Store whose first watch fails because its history was compacted. */
  class Forgetful extends ForwardingStore {
    override watch(options: Parameters<Store['watch']>[0]): ReturnType<Store['watch']> {
      const watch = this.store.watch(options);
      if (watches++ > 0) return watch;
      const forgotten = watch.next().then(() => {
        throw new CompactedError(1 as Revision, 2 as Revision);
      });
      return Object.assign(watch, { [Symbol.asyncIterator]: () => ({ next: () => forgotten }) });
    }
  }
  const { view } = await tenant({ objects: 2 }, { store: new Forgetful(raw) });
  await committed(view.commit([create('a')]));
  await seen();
  assert.equal(watches, 2);
  await committed(view.commit([create('b')]));
  await refusal(view.commit([create('c')]));
  await raw.close();
});

/** Writes of other servers are visible after a short delay. */
const seen = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
