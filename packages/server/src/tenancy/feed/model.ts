/** Random lives of tenants and objects: whoever follows the feed knows what those that there are have stored. */

import assert from 'node:assert/strict';
import { seededRandom } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { TenancyServer } from '../../testing/tenancy-server.ts';
import { Run } from '../wildcard/model.ts';
import { FeedRecorder } from './testing.ts';

const places: Readonly<Record<string, string>> = {
  roles: 'roles.rbac.authorization.k8s.io',
  configmaps: 'configmaps',
};

/** What the control planes that there are have stored themselves. */
async function stored(server: TenancyServer, clusters: Iterable<string>): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const cluster of clusters) {
    for (const [place, resource] of Object.entries(places)) {
      const prefix = `/registry/clusters/${cluster}/${place}/`;
      const { entries } = await server.store.range(prefixRange(prefix));
      for (const { key, modRevision } of entries)
        all.set(`${cluster} ${resource} ${key.slice(prefix.length)}`, String(modRevision));
    }
  }
  return all;
}

const wants = ({ resource }: { resource: string }): boolean => resource in places;
const sorted = (map: ReadonlyMap<string, string>): string[] => Array.from(map, (pair) => pair.join(' ')).sort();

/** Rejects when what was told is not what is stored, whenever the feed began. */
export async function insistOnFeedModel(seed: number, store?: Store): Promise<void> {
  await using server = await TenancyServer.open(store ? { store } : {});
  const run = new Run(server, seededRandom(seed));
  await using first = await FeedRecorder.open(server, wants);
  for (let round = 0; round < 10; round++) {
    for (let at = 1 + run.random.below(12); at > 0; at--) await run.step();
    const late = new FeedRecorder(server.tenancy.feed(), wants);
    for (let at = run.random.below(6); at > 0; at--) await run.step();
    await first.caughtUp(server);
    await late.until(() => late.told.includes('synced'));
    await late.caughtUp(server);
    const truth = sorted(await stored(server, [...run.alive, 'root']));
    assert.deepEqual(sorted(first.known), truth, 'from the beginning');
    assert.deepEqual(sorted(late.known), truth, `from round ${round}`);
    assert.deepEqual([...first.tenants.keys()].sort(), [...run.alive].sort());
    await late[Symbol.asyncDispose]();
  }
  // Of a base object that went, too, it is told what it was.
  for (const change of first.changes) {
    const { metadata } = change.object();
    assert.deepEqual([metadata.namespace, metadata.name], [change.namespace, change.name]);
    assert.ok(metadata.uid);
  }
}
