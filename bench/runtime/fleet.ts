/** One operator with a thousand clusters: on one stream, and with a connection for each beside it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs } from '../server/processes.ts';
import { table, thousands } from '../table.ts';
import { Hangar } from '../tenants/hangar.ts';
import { createTenants, tenantName, write } from '../tenants/load.ts';
import { megabytes, peakMb, residentMb } from './memory.ts';
import type { Shares } from './profile.ts';
import { Program } from './program.ts';
import type { FleetOptions, Heap, Times } from './programs/fleet.ts';

export interface FleetSize {
  readonly clusters: number;
  /** Of each of three kinds, in each cluster. */
  readonly objects: number;
  /** Number of clusters with a separate connection: the figures are extrapolated to the rest. */
  readonly alone: number;
}

export interface Operated {
  readonly what: string;
  readonly clusters: number;
  /** When its code was loaded, before any work. */
  readonly loadedMs: number;
  readonly loadedMb: number;
  /** Every cluster is known. */
  readonly opened: Times;
  /** All objects of the clusters are cached. */
  readonly engaged: Times;
  readonly reconciled: Times;
  readonly cpuMs: number;
  readonly peakMb: number;
  /** After an idle time and a garbage collection. */
  readonly settledMb: number;
  readonly heap: Heap;
}

export interface Fleet {
  readonly size: FleetSize;
  readonly wildcard: Operated;
  /** With a small young generation. */
  readonly small: Operated;
  /** Without managedFields. */
  readonly bare: Operated;
  readonly alone: Operated;
  readonly profile: Shares;
}

const settleMs = 5_000;
/** The young generation of V8 grows to 64 MB by default. */
const smallYoungGeneration = ['--max-semi-space-size=8'];

export async function fleet(size: FleetSize): Promise<Fleet> {
  return Hangar.use([], async (hangar) => {
    const { clusters, objects, alone } = size;
    await createTenants(hangar, { count: clusters });
    await write(hangar, { count: clusters }, kinds(objects));
    const names = Array.from({ length: clusters }, (_, n) => tenantName(n));
    const measured = async (options: FleetOptions, flags?: readonly string[]): Promise<Operated> => {
      await idle(hangar.pid);
      return operated(options, flags);
    };
    const all = { kubeconfig: hangar.kubeconfig, clusters: names, objects };
    // First, so that the others find their code compiled.
    const profile = await profileOf({ ...all, by: 'wildcard' });
    const wildcard = await measured({ ...all, by: 'wildcard' });
    const small = await measured({ ...all, by: 'wildcard' }, smallYoungGeneration);
    const bare = await measured({ ...all, by: 'wildcard', isBare: true });
    const connected = await measured({ ...all, by: 'a connection each', clusters: names.slice(0, alone) });
    const result = { size, wildcard, small, bare, alone: connected, profile };
    print(result);
    return result;
  });
}

async function profileOf(options: FleetOptions): Promise<Shares> {
  await using program = new Program('fleet', { ...options, isProfiled: true }, { nodeFlags: ['--expose-gc'] });
  return await program.heard<Shares>('profile');
}

async function operated(options: FleetOptions, flags: readonly string[] = []): Promise<Operated> {
  await using program = new Program('fleet', options, { nodeFlags: ['--expose-gc', ...flags] });
  const loadedMs = await program.heard<number>('loaded');
  const loadedMb = residentMb(program.pid);
  const opened = await program.heard<Times>('opened');
  const engaged = await program.heard<Times>('engaged');
  const reconciled = await program.heard<Times>('reconciled');
  const spentMs = cpuMs([program.pid]);
  const peak = peakMb(program.pid);
  await sleep(settleMs);
  const heap = await program.ask<Heap>('collect');
  await sleep(settleMs);
  return {
    what: [options.by, ...flags, ...(options.isBare ? ['without managedFields'] : [])].join(', '),
    clusters: options.clusters.length,
    loadedMs,
    loadedMb,
    opened,
    engaged,
    reconciled,
    cpuMs: spentMs,
    peakMb: peak,
    settledMb: residentMb(program.pid),
    heap,
  };
}

const kinds = (times: number) =>
  [
    { kind: 'ConfigMap', plural: 'configmaps', more: { data: { text: 'x'.repeat(128) } } },
    { kind: 'Secret', plural: 'secrets', more: { stringData: { text: 'x'.repeat(128) } } },
    { kind: 'ServiceAccount', plural: 'serviceaccounts', more: {} },
  ].map(({ kind, plural, more }) => ({
    method: 'POST',
    path: `/api/v1/namespaces/default/${plural}`,
    body: {
      apiVersion: 'v1',
      kind,
      metadata: { name: 'object-{n}', labels: { 'app.kubernetes.io/name': 'bench' } },
      ...more,
    },
    status: 201,
    times,
  }));

/** Waits until the server is idle: pending writes and closes are done. */
async function idle(pid: number): Promise<void> {
  for (let attempt = 0; attempt < 60; attempt++) {
    const before = cpuMs([pid]);
    await sleep(1_000);
    if (cpuMs([pid]) - before <= 20) return;
  }
}

/** Extrapolates to all clusters; the base of a process without clusters is not scaled. */
export function scaled({ size, alone }: Fleet): { readonly megabytes: number; readonly engagedMs: number } {
  const times = size.clusters / alone.clusters;
  const { loadedMs, loadedMb, peakMb: peak, engaged } = alone;
  return {
    megabytes: loadedMb + (peak - loadedMb) * times,
    engagedMs: loadedMs + (engaged.sinceProcessMs - loadedMs) * times,
  };
}

function print(measured: Fleet): void {
  const { size, wildcard, small, bare, alone } = measured;
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  const mb = (value: number): string => `${value.toFixed(0)} MB`;
  const row = (one: Operated): string[] => [
    `  ${one.what}, ${thousands(one.clusters)} clusters`,
    seconds(one.opened.sinceManagerMs),
    seconds(one.engaged.sinceManagerMs),
    seconds(one.engaged.sinceProcessMs),
    seconds(one.reconciled.sinceProcessMs),
    seconds(one.cpuMs),
    mb(one.peakMb),
    mb(one.settledMb),
    mb(megabytes(one.heap.heapBytes)),
  ];
  const rows = [wildcard, small, bare, alone].map(row);
  if (alone.clusters < size.clusters) {
    const { megabytes: peak, engagedMs } = scaled(measured);
    const rest = ['–', '–', mb(peak), '–', '–'];
    rows.push([`  counted up to ${thousands(size.clusters)}`, '–', '–', seconds(engagedMs), ...rest]);
  }
  const header = [
    '  one operator',
    'known',
    'engaged',
    'of the process',
    'all reconciled',
    'CPU',
    'peak',
    'settled',
    'heap',
  ];
  console.log(`  3 kinds × ${size.objects} objects in each cluster`);
  console.log(table(header, rows));
}
