/**
 * `npm run bench -- runtime`: the cost and the limits of client and runtime. Every measured operator is a separate process, and the server
 * is `bin/hangar.js` with its embedded store in another one; time is real and timings are the defaults.
 *
 *     npm run bench -- runtime [--quick] [client|reconciles|fleet|sharing …]
 *
 * Without names all of them are measured. `--quick` is for development: fewer clusters and objects.
 */

import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { client } from './client.ts';
import { fleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { sharesLine } from './profile.ts';
import type { Requests } from './programs/client.ts';
import { perSecond, reconciles } from './reconciles.ts';
import type { Reconciles } from './reconciles.ts';
import { megabytes } from './memory.ts';
import { sharing } from './sharing.ts';
import type { Sharing } from './sharing.ts';

const names = ['client', 'reconciles', 'fleet', 'sharing'] as const;
type Name = (typeof names)[number];

const full = {
  clientMs: 3_000,
  rounds: 3,
  objects: 20_000,
  fleet: { clusters: 1_000, objects: 20, alone: 1_000 },
  sharing: { clusters: 1_000, quietMs: 30_000 },
};

const quick: typeof full = {
  clientMs: 1_000,
  rounds: 2,
  objects: 5_000,
  fleet: { clusters: 100, objects: 20, alone: 25 },
  sharing: { clusters: 100, quietMs: 10_000 },
};

export async function run(args: string[]): Promise<boolean> {
  const { values, names: given } = readCommandLine(args, {
    usage: 'npm run bench -- runtime',
    names,
    options: { quick: { help: 'for development: smaller and shorter' } },
  });
  const isWanted = (name: Name): boolean => given.length === 0 || given.includes(name);
  const sizes = values.quick ? quick : full;
  const heading = (title: string): void => console.log(`\n${title}`);
  const bars: Bar[] = [];
  const remaining: string[] = [];

  if (isWanted('client')) {
    heading('one client of a Hangar, each a process');
    bars.push(...clientBars(await client(sizes.clientMs, sizes.rounds)));
  }
  if (isWanted('reconciles')) {
    heading('a controller whose reconciler does nothing');
    const measured = await reconciles(sizes.objects, sizes.rounds);
    bars.push(...reconcileBars(measured));
    remaining.push(`A first sync: ${sharesLine(measured.profile)}.`);
  }
  if (isWanted('fleet')) {
    heading('an operator of many clusters');
    const measured = await fleet(sizes.fleet);
    bars.push(...fleetBars(measured));
    remaining.push(...fleetRemaining(measured));
  }
  if (isWanted('sharing')) {
    heading('operators that share clusters');
    bars.push(...sharingBars(await sharing(sizes.sharing)));
  }
  if (remaining.length > 0) console.log(`\nRemaining\n  ${remaining.join('\n  ')}`);
  return printBars(bars);
}

/** For the negotiated protocol; the other one is for older proxies. */
const clientBars = (measured: readonly Requests[]): Bar[] =>
  measured
    .filter(({ protocol, inFlight }) => protocol === undefined && inFlight > 1)
    .map(({ inFlight, perSecond: rate }) => ({
      what: `gets of one client, ${inFlight} in flight`,
      measured: rate,
      bar: 12_000,
      must: 'at least',
      unit: '/s',
    }));

function reconcileBars(measured: Reconciles): Bar[] {
  const slowest = Math.min(...measured.noOps.map((one) => one.perSecond));
  const bar = { bar: 20_000, must: 'at least', unit: '/s' } as const;
  return [
    { what: 'no-op reconciles, the slowest way to write one', measured: slowest, ...bar },
    { what: `objects of a server, listed, cached and reconciled`, measured: perSecond(measured), ...bar },
  ];
}

function fleetBars({ size, wildcard }: Fleet): Bar[] {
  const what = `${size.clusters} clusters × 3 kinds × ${size.objects} objects on one stream`;
  const { engaged, peakMb, settledMb } = wildcard;
  return [
    { what: `${what}, the most memory`, measured: peakMb, bar: 300, must: 'at most', unit: ' MB' },
    { what: `${what}, memory at rest`, measured: settledMb, bar: 300, must: 'at most', unit: ' MB' },
    {
      what: `${what}, engaged since the start of the process`,
      measured: engaged.sinceProcessMs / 1_000,
      bar: 5,
      must: 'at most',
      unit: ' s',
    },
  ];
}

function fleetRemaining({ size, wildcard, alone, profile }: Fleet): string[] {
  const { settledMb, heap } = wildcard;
  const objects = size.clusters * size.objects * 3;
  const eachKb = (megabytes(heap.heapBytes) * 1_000) / objects;
  const rest = settledMb - megabytes(heap.heapBytes) - megabytes(heap.externalBytes);
  return [
    `A fleet until all is reconciled: ${sharesLine(profile)}.`,
    `Memory at rest: ${megabytes(heap.heapBytes).toFixed(0)} MB of heap (${eachKb.toFixed(2)} kB for each of ${objects} objects, its cluster's share included), ` +
      `${megabytes(heap.externalBytes).toFixed(0)} MB outside of it, ${rest.toFixed(0)} MB of Node itself and of what the allocator keeps. ` +
      `With a connection each, a cluster takes ${((alone.heap.heapBytes / alone.clusters / size.objects / 3) * 1e-3).toFixed(2)} kB of heap for each object.`,
  ];
}

function sharingBars(measured: Sharing): Bar[] {
  const { clusters, held, weighted, handOverMs, crashMs, leaseWritesPerSecond, overlaps } = measured;
  const atMost = { must: 'at most' } as const;
  const heavyShare = weighted[1] / clusters;
  const lightShare = weighted[0] / clusters;
  const off = Math.max(Math.abs(heavyShare / (10 / 11) - 1), Math.abs(lightShare / (1 / 11) - 1));
  return [
    {
      what: `${clusters} clusters, 5 peers: most against least`,
      measured: Math.max(...held) / Math.min(...held),
      bar: 1.25,
      ...atMost,
    },
    { what: 'weights of 1 and 10: off their shares by', measured: off * 100, bar: 10, ...atMost, unit: ' %' },
    { what: 'clean hand-over, to the last look', measured: handOverMs / 1_000, bar: 1, ...atMost, unit: ' s' },
    { what: 'take-over after a crash, to the last look', measured: crashMs / 1_000, bar: 15, ...atMost, unit: ' s' },
    { what: 'writes of leases', measured: leaseWritesPerSecond, bar: 2, ...atMost, unit: '/s' },
    { what: 'looks of two peers at one cluster at a time', measured: overlaps, bar: 0, ...atMost, unit: '' },
  ];
}
