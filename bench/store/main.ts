/**
 * The store's figures, in one run: raw SQLite, the embedded driver and a real etcd take turns on the same machine, three
 * rounds each, and the median of each counts.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import type { Store } from '@hangar/store';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { table, thousands } from '../table.ts';
import { fill, readCost } from './growth.ts';
import { createsPerSecond } from './load.ts';
import type { Throughput } from './load.ts';
import { RawEngine } from './raw-engine.ts';
import { watchLatency } from './watch-latency.ts';

const writers = 64;
const rounds = 3;
const puts = { raw: 64_000, embedded: 64_000, etcd: 20_000 };

/** Answers whether every bar was met. */
export async function run(args: string[]): Promise<boolean> {
  readCommandLine(args, { usage: 'npm run bench -- store', names: [], options: {} });
  const directory = mkdtempSync(join(tmpdir(), 'hangar-bench-'));
  const cluster = await startEtcd();
  const etcd = await openEtcdStore({ endpoints: cluster.endpoints });
  const embedded = await openEmbeddedStore({ directory: join(directory, 'embedded') });
  try {
    const bars = [...(await throughput(directory, embedded, etcd)), ...(await latency(embedded, etcd))];
    return printBars([...bars, ...(await growth(directory))]);
  } finally {
    await etcd.close();
    await embedded.close();
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function throughput(directory: string, embedded: Store, etcd: Store): Promise<Bar[]> {
  const results = { raw: [] as Throughput[], embedded: [] as Throughput[], etcd: [] as Throughput[] };
  const raw = new RawEngine(join(directory, 'raw'));
  for (let round = 0; round < rounds; round++) {
    results.raw.push(raw.createsPerSecond({ puts: puts.raw, batch: writers, from: round * puts.raw }));
    results.embedded.push(
      await createsPerSecond(embedded, { puts: puts.embedded, writers, from: round * puts.embedded }),
    );
    results.etcd.push(await createsPerSecond(etcd, { puts: puts.etcd, writers, from: round * puts.etcd }));
    console.log(`round ${round + 1} of ${rounds} done`);
  }
  raw.close();
  const [limit, ours, theirs] = [median(results.raw), median(results.embedded), median(results.etcd)];
  const row = (name: string, one: Throughput) => [
    name,
    thousands(one.perSecond),
    one.cpuUs.toFixed(1),
    ...[one.p50Ms, one.p99Ms].map((ms) => (Number.isNaN(ms) ? '–' : ms.toFixed(2))),
  ];
  console.log(`\nDurable creates of 1 KiB, ${writers} writers (medians of ${rounds} rounds)`);
  console.log(
    table(
      ['', 'per second', 'CPU µs here', 'p50 ms', 'p99 ms'],
      [
        row(`raw SQLite, ${writers} to a transaction`, limit),
        row('embedded', ours),
        row('etcd, through our driver', theirs),
      ],
    ),
  );
  return [
    { what: 'embedded against the raw engine', measured: ours.perSecond / limit.perSecond, bar: 0.7, must: 'at least' },
    { what: 'embedded against etcd', measured: ours.perSecond / theirs.perSecond, bar: 3, must: 'at least' },
  ];
}

async function latency(embedded: Store, etcd: Store): Promise<Bar[]> {
  const rows: string[][] = [];
  for (const [name, store] of [
    ['embedded', embedded],
    ['etcd', etcd],
  ] as const) {
    for (const watchers of [1, 1000]) {
      const { p50Ms, p99Ms } = await watchLatency(store, {
        watchers,
        writes: 500,
        prefix: `/bench/watch-${watchers}/`,
      });
      rows.push([name, thousands(watchers), p50Ms.toFixed(2), p99Ms.toFixed(2)]);
    }
  }
  console.log('\nWatch: from commit to the event at every watcher');
  console.log(table(['', 'watchers', 'p50 ms', 'p99 ms'], rows));
  return [];
}

async function growth(directory: string): Promise<Bar[]> {
  const store = await openEmbeddedStore({ directory: join(directory, 'growth') });
  try {
    const rows: string[][] = [];
    const costs = [];
    let filled = 0;
    for (const keys of [10_000, 100_000, 1_000_000]) {
      await fill(store, filled, keys);
      filled = keys;
      const cost = await readCost(store, keys);
      costs.push(cost);
      const megabytes = process.memoryUsage.rss() / 1024 / 1024;
      rows.push([thousands(keys), cost.getUs.toFixed(1), cost.rangeUs.toFixed(0), megabytes.toFixed(0)]);
    }
    console.log('\nEmbedded: cost of a read as keys grow');
    console.log(table(['keys', 'get µs', 'range of 100 µs', 'process MB'], rows));
    const [first, , last] = costs;
    return [
      { what: 'get at 10⁶ keys against 10⁴', measured: last!.getUs / first!.getUs, bar: 1.5, must: 'at most' },
      { what: 'range at 10⁶ keys against 10⁴', measured: last!.rangeUs / first!.rangeUs, bar: 1.5, must: 'at most' },
    ];
  } finally {
    await store.close();
  }
}

function median(results: Throughput[]): Throughput {
  return results.toSorted((a, b) => a.perSecond - b.perSecond)[results.length >> 1]!;
}
