/** Model test: random operations on tenants and objects. Folding the feed must yield the stored objects of the existing tenants. */

import assert from 'node:assert/strict';
import { seededRandom } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { TenancyServer } from '../../testing/tenancy-server.ts';
import { Run } from '../wildcard/model.ts';
import { FeedRecorder } from './testing.ts';
import type { FollowedFeed } from './testing.ts';

const places: Readonly<Record<string, string>> = {
  roles: 'roles.rbac.authorization.k8s.io',
  configmaps: 'configmaps',
};

/** Returns the objects that the existing control planes have stored. */
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
/** Omits the progress marks, which are created and deleted all the time. */
const sorted = (map: ReadonlyMap<string, string>): string[] =>
  Array.from(map, (pair) => pair.join(' '))
    .filter((one) => !one.startsWith(`${marks} `))
    .sort();

export interface FeedModelOptions {
  /** Absent: a memory store. */
  readonly store?: Store;
  readonly restoresRevisions?: boolean;
  /** Absent: the in-process feed, which also includes the management plane. */
  readonly feedOf?: (server: TenancyServer) => FollowedFeed;
}

/** A tenant that exists all the time. Writes to it show the progress of a feed. */
const marks = 'marks';

/** Rejects if a feed, started at any time, does not match the stored objects. */
export async function insistOnFeedModel(
  seed: number,
  { store, feedOf, ...options }: FeedModelOptions = {},
): Promise<void> {
  await using server = await TenancyServer.open(store ? { store } : {});
  const run = new Run(server, seededRandom(seed), options);
  await server.make(marks);
  const follow = (): FeedRecorder<FollowedFeed> =>
    new FeedRecorder(feedOf ? feedOf(server) : server.tenancy.feed(), wants);
  const others = feedOf ? [] : ['root'];
  await using first = follow();
  for (let round = 0; round < 10; round++) {
    for (let at = 1 + run.random.below(12); at > 0; at--) await run.step();
    const late = follow();
    for (let at = run.random.below(6); at > 0; at--) await run.step();
    await first.caughtUp(server, marks);
    await late.until(() => late.told.includes('synced'));
    await late.caughtUp(server, marks);
    const truth = sorted(await stored(server, [...run.served, ...others]));
    assert.deepEqual(sorted(first.known), truth, 'from the beginning');
    assert.deepEqual(sorted(late.known), truth, `from round ${round}`);
    assert.deepEqual([...first.tenants.keys()].sort(), [...run.served, marks].sort());
    await late[Symbol.asyncDispose]();
  }
  // The deletion of a base object also includes its last state.
  for (const change of first.changes) {
    const { metadata } = change.object();
    assert.deepEqual([metadata.namespace, metadata.name], [change.namespace, change.name]);
    assert.ok(metadata.uid);
  }
}
