/** A fleet with an index of all its objects, and searches of its users, without sockets. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CleanupStack, Logger, systemClock, systemRandom } from '@hangar/core';
import type { User } from '@hangar/server/library';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import type { SearchSpec, SearchStatus } from '../api/search.ts';
import { accessReviews } from '../authorization/reviews.ts';
import { rootCluster } from '../authorization/scope.ts';
import type { Scope } from '../authorization/scope.ts';
import { SearchIndex } from '../index-store/search-index.ts';
import { Searcher } from '../search.ts';

export const masters: User = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };
export const platform: Scope = { type: 'platform' };
export const inside = (cluster: string): Scope => ({ type: 'cluster', cluster });

export const userOf = (name: string, ...groups: readonly string[]): User => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: {},
});

export interface FleetSearch extends AsyncDisposable {
  readonly fleet: TestFleet;
  readonly directory: string;
  readonly index: SearchIndex;
  /** Reviews that were sent. */
  readonly reviews: () => number;
  search(spec: SearchSpec | string, user?: User, scope?: Scope): Promise<SearchStatus>;
  /** Returns `cluster/namespace/name` of all results, page by page. */
  found(spec: SearchSpec | string, user?: User, scope?: Scope): Promise<string[]>;
  /** Searches as an administrator until the results are as expected. */
  until(spec: SearchSpec | string, isDone: (found: readonly string[]) => boolean): Promise<void>;
  /** Closes the index and opens it again. */
  restart(): Promise<void>;
}

export async function startFleetSearch(clusters: readonly string[]): Promise<FleetSearch> {
  await using opened = new CleanupStack();
  const fleet = await startTestFleet({ clusters, authorization: 'rbac' });
  opened.defer(() => fleet[Symbol.asyncDispose]());
  const directory = await mkdtemp(join(tmpdir(), 'search-index-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const log = new Logger({
    level: 'warn',
    format: 'text',
    clock: systemClock,
    write: (line) => void process.stderr.write(line),
  });
  const source = { client: fleet.client, fleetClient: fleet.wildcardClient, cluster: rootCluster };
  const open = (): Promise<SearchIndex> =>
    SearchIndex.open({ directory, source, clock: systemClock, random: systemRandom, log });
  let index = await open();
  opened.defer(() => index.close());
  let reviews = 0;
  const ask = accessReviews({
    clientOf: (cluster) => (cluster === rootCluster ? fleet.client : fleet.clientOf(cluster)),
    clock: systemClock,
  });
  const searcher = new Searcher({
    index: {
      get current() {
        return index.current;
      },
      get isRebuilding() {
        return index.isRebuilding;
      },
    },
    review: (...asked) => (reviews++, ask(...asked)),
    clock: systemClock,
  });
  const search: FleetSearch['search'] = (spec, user = masters, scope = platform) =>
    searcher.search(typeof spec === 'string' ? { query: spec } : spec, { user, scope });
  const found: FleetSearch['found'] = async (spec, user, scope) => {
    const all: string[] = [];
    let next: string | undefined;
    do {
      const asked: SearchSpec = typeof spec === 'string' ? { query: spec } : spec;
      const status = await search({ ...asked, ...(next ? { continue: next } : {}) }, user, scope);
      all.push(...status.results.map(({ cluster, namespace = '', name }) => `${cluster}/${namespace}/${name}`));
      next = status.continue;
    } while (next);
    return all;
  };
  const closing = opened.move();
  return {
    fleet,
    directory,
    get index() {
      return index;
    },
    reviews: () => reviews,
    search,
    found,
    async until(spec, isDone) {
      while (!isDone(await found(spec))) await new Promise((resolve) => setImmediate(resolve));
    },
    async restart() {
      await index.close();
      index = await open();
    },
    [Symbol.asyncDispose]: () => closing.run(),
  };
}
