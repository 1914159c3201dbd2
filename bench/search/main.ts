/**
 * `npm run bench -- search`: the search service with many objects. Deployments are generated into the list of the feed, because creating
 * them takes longer than indexing them; everything else is a fleet in this process. Freshness is measured from a create request to the
 * first search that finds the object.
 */

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { readCommandLine, wholeNumber } from '../../scripts/command-line.ts';
import { accessReviews } from '../../services/search/src/authorization/reviews.ts';
import { SearchIndex } from '../../services/search/src/index-store/search-index.ts';
import { Searcher } from '../../services/search/src/search.ts';
import { printBars } from '../bars.ts';
import { peakMb, residentMb } from '../runtime/memory.ts';
import { percentile, thousands } from '../table.ts';
import { query, withDeployments } from './objects.ts';

const user = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };
const scope = { type: 'platform' } as const;
const tenants = 10;
const writesPerSecond = 50;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- search',
    names: [],
    options: {
      objects: { value: 'N', help: 'objects in the index; 1,000,000 unless given' },
      queries: { value: 'N', help: 'queries of each measurement; 1,000 unless given' },
    },
  });
  const objects = wholeNumber('objects', values.objects, 1_000_000);
  const queries = wholeNumber('queries', values.queries, 1_000);
  const directory = await mkdtemp(join(tmpdir(), 'bench-search-'));
  await using fleet = await startTestFleet({ clusters: tenants });
  const index = await SearchIndex.open({
    directory,
    source: { client: fleet.client, fleetClient: withDeployments(fleet.wildcardClient, objects), cluster: 'root' },
    clock: systemClock,
    random: systemRandom,
    log: new Logger({ level: 'warn', format: 'text', clock: systemClock }),
  });
  try {
    return await measured(fleet, index, { objects, queries });
  } finally {
    await index.close();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Sizes {
  readonly objects: number;
  readonly queries: number;
}

async function measured(fleet: TestFleet, index: SearchIndex, { objects, queries }: Sizes): Promise<boolean> {
  const review = accessReviews({ clientOf: (cluster) => fleet.clientOf(cluster), clock: systemClock });
  const ofRoot = accessReviews({ clientOf: () => fleet.client, clock: systemClock });
  const searcher = new Searcher({
    index,
    review: (cluster, ...asked) => (cluster === 'root' ? ofRoot : review)(cluster, ...asked),
    clock: systemClock,
  });
  const search = (text: string) => searcher.search({ query: text }, { user, scope });
  const seconds = (sinceMs: number): number => (performance.now() - sinceMs) / 1_000;

  let startMs = performance.now();
  await index.current.synced;
  const buildSeconds = seconds(startMs);
  const bytes = (await stat(index.current.file)).size;
  console.log(
    `${thousands(objects)} objects indexed in ${buildSeconds.toFixed(0)} s; ${(bytes / 1e6).toFixed(0)} MB on disk`,
  );

  const timesOf = async (count: number, isOver: () => boolean = () => false): Promise<number[]> => {
    const times: number[] = [];
    for (let at = 0; at < count && !isOver(); at++) {
      const beginMs = performance.now();
      await search(query(at, objects));
      times.push(performance.now() - beginMs);
    }
    return times.toSorted((one, other) => one - other);
  };
  await timesOf(100);
  const idle = await timesOf(queries);
  using writes = startWrites(fleet);
  const busy = await timesOf(queries);
  const fresh = await freshness(fleet, search);
  const steadyMb = residentMb(process.pid);

  startMs = performance.now();
  let isRebuilt = false;
  const rebuilding = index.rebuild().then(() => (isRebuilt = true));
  const during = await timesOf(Infinity, () => isRebuilt);
  await rebuilding;
  const rebuildSeconds = seconds(startMs);

  for (const [what, times] of Object.entries({ 'no writes': idle, writes: busy, 'writes, rebuild': during })) {
    const at = (share: number): string => percentile(times, share).toFixed(1);
    console.log(`queries, ${what}: ${times.length}; p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`);
  }
  console.log(`freshness: p50 ${percentile(fresh, 0.5).toFixed(0)} ms, p99 ${percentile(fresh, 0.99).toFixed(0)} ms`);
  console.log(`rebuild while answering: ${rebuildSeconds.toFixed(0)} s; ${thousands(writes.count)} writes`);
  console.log(
    `memory of the process with the fleet: ${steadyMb.toFixed(0)} MB, peak ${peakMb(process.pid).toFixed(0)} MB`,
  );
  return printBars([
    { what: 'query p99 under writes', measured: percentile(busy, 0.99), bar: 100, must: 'at most', unit: ' ms' },
    { what: 'freshness p99 under writes', measured: percentile(fresh, 0.99), bar: 2_000, must: 'at most', unit: ' ms' },
    { what: 'query p99 during a rebuild', measured: percentile(during, 0.99), bar: 250, must: 'at most', unit: ' ms' },
    { what: 'peak memory', measured: peakMb(process.pid), bar: 1_000, must: 'at most', unit: ' MB' },
  ]);
}

/** Creates and changes ConfigMaps until it is disposed. */
function startWrites(fleet: TestFleet): { readonly count: number } & Disposable {
  let count = 0;
  const timer = setInterval(() => {
    const at = count++;
    const client = fleet.clientOf(`cluster-${at % tenants}`);
    const metadata = { namespace: 'default', name: `written-${at % 500}` };
    const object = { metadata, data: { text: `change number ${at}` } };
    client
      .apply(ConfigMap, object, { fieldManager: 'bench', force: true })
      .catch((error: unknown) => console.error(error));
  }, 1_000 / writesPerSecond);
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

async function freshness(
  fleet: TestFleet,
  search: (text: string) => Promise<{ readonly results: readonly unknown[] }>,
): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < 50; at++) {
    const startMs = performance.now();
    const metadata = { namespace: 'default', name: `fresh-${at}` };
    await fleet.clientOf(`cluster-${at % tenants}`).create(ConfigMap, { metadata, data: { text: `fresh${at}x` } });
    while ((await search(`fresh${at}x`)).results.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    times.push(performance.now() - startMs);
  }
  return times.toSorted((one, other) => one - other);
}
