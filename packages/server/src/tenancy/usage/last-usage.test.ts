import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasCode, systemClock } from '@hangar/core';
import { CompactedError, openMemoryStore, prefixRange } from '@hangar/store';
import type { Revision, Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import { countAll, Counted } from './counted.ts';
import type { LastUsage } from './last-usage.ts';
import { usageStatus } from './usage-status.ts';

const prefix = '/registry/clusters/demo/';

/** Store that records every read in the tenant's range. */
class Watched extends ForwardingStore {
  readonly ranges: NonNullable<Parameters<Store['range']>[1]>[] = [];
  isStuck = false;
  statisticsAsked = 0;

  override async range(...all: Parameters<Store['range']>): ReturnType<Store['range']> {
    if (!all[0].start.startsWith(prefix)) return super.range(...all);
    this.ranges.push(all[1] ?? {});
    if (this.isStuck) await new Promise(() => {});
    return super.range(...all);
  }

  override statistics(...all: Parameters<Store['statistics']>): ReturnType<Store['statistics']> {
    this.statisticsAsked++;
    return super.statistics(...all);
  }
}

async function filled(store: Store, objects: number): Promise<void> {
  const value = Buffer.from(JSON.stringify(configMap('x', { k: 'x'.repeat(100) })));
  for (let at = 0; at < objects; at += 100) {
    const writes: Write[] = [];
    for (let i = at; i < Math.min(objects, at + 100); i++) {
      writes.push({ type: 'put', key: `${prefix}configmaps/default/c${i}`, value });
    }
    await store.commit(writes);
  }
}

interface Destruction {
  readonly store: Watched;
  readonly usage: LastUsage | undefined;
  /** CPU time: the machine can be busy with other work. */
  readonly cpuMs: number;
  readonly isTold: boolean;
}

/** Destroys a tenant with this number of objects. */
async function destroyed(objects: number, { isStuck = false, isAsked = true } = {}): Promise<Destruction> {
  const store = new Watched(await openMemoryStore());
  const told: LastUsage[] = [];
  const onDestroyed = (_path: string, usage: LastUsage): void => void told.push(usage);
  try {
    await using server = await TenancyServer.open({ store, ...(isAsked ? { tenancy: { onDestroyed } } : {}) });
    const path = await server.make('demo', { deletionPolicy: 'Destroy' });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await filled(store, objects);
    store.ranges.splice(0);
    store.statisticsAsked = 0;
    store.isStuck = isStuck;
    const before = process.cpuUsage();
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    const { user, system } = process.cpuUsage(before);
    store.isStuck = false;
    assert.deepEqual((await store.range(prefixRange(prefix))).entries, []);
    store.ranges.pop();
    return { store, usage: told[0], cpuMs: (user + system) / 1000, isTold: told.length > 0 };
  } finally {
    await store.close();
  }
}

describe('the last figures of a tenant', () => {
  test('are exact, and read no values', async () => {
    const { usage, store } = await destroyed(1_200);
    assert.deepEqual([usage?.objects, usage?.writes], [1_201, 1]);
    assert.deepEqual([...usage!.objectsPerKind!], [['configmaps', 1_201]]);
    assert.ok(usage!.storedBytes! > 1_200 * 100);
    assert.ok(store.ranges.length > 0 && store.ranges.every(({ keysOnly, limit }) => keysOnly && limit === 100));
  });

  test('keep nobody from ending ten thousand objects within a second', async () => {
    const { cpuMs, isTold } = await destroyed(10_000);
    assert.ok(cpuMs < 1_000, `${Math.round(cpuMs)} ms`);
    assert.ok(isTold);
  });

  test('are what it used alone, when it cannot be counted in time', async () => {
    // The store stays stuck until the tenant is deleted: without a time limit this would never complete.
    const { usage } = await destroyed(10, { isStuck: true });
    const { since: _, ...rest } = usageStatus(usage!);
    assert.deepEqual(rest, { watches: 0, requests: { read: 0, write: 1 }, watchSeconds: 0 });
  });

  test('are not found out when nobody wants them', async () => {
    const { store } = await destroyed(10, { isAsked: false });
    assert.deepEqual([store.ranges.length, store.statisticsAsked], [0, 0]);
  });
});

test('a store that forgets too soon is not asked for ever', async () => {
  const store = await openMemoryStore();
  let asked = 0;
  class Forgetful extends ForwardingStore {
    override range(): ReturnType<Store['range']> {
      asked++;
      return Promise.reject(new CompactedError(1 as Revision, 2 as Revision));
    }
  }
  const counted = new Counted({ storePrefix: '/registry', prefix, isBornWith: () => false });
  await assert.rejects(countAll({ store: new Forgetful(store), clock: systemClock }, counted), (error: unknown) =>
    hasCode(error, 'ServiceUnavailable'),
  );
  assert.equal(asked, 5);
  await store.close();
});
