/**
 * `npm run bench -- server`: Hangar beside the real kube-apiserver and etcd, in one run on one machine. Both are durable, both speak TLS;
 * each is measured alone, in turns, because they share the machine. `--protocol http/1.1` or `h2` measures one protocol only; `--quick` is
 * a shorter run for development. `--kinds pods,leases` and `--connections 64,256` measure these alone, each kind with each number, over HTTP/2
 * unless a protocol is given.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readCommandLine, wholeNumber } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { table, thousands } from '../table.ts';
import type { Protocol } from './connection.ts';
import { compare, comparisons, everything } from './by-kind.ts';
import { kinds } from './kinds.ts';
import { definitionLatencyMs } from './definition-latency.ts';
import { residentMiB } from './processes.ts';
import { startHangar, startKubernetes } from './servers.ts';
import type { Server } from './servers.ts';
import { watchLatency } from './watch-latency.ts';
import { connectionsDefault, measure, prepare, works } from './work.ts';
import type { Measured, Work } from './work.ts';

interface Figures {
  readonly startMs: number;
  readonly idleMiB: number;
  readonly works: ReadonlyMap<string, Measured>;
  readonly watchP99Ms: ReadonlyMap<Protocol, number>;
  readonly watchP50Ms: ReadonlyMap<Protocol, number>;
  readonly definitionMs: number;
  readonly loadedMiB: number;
}

const ratioOf: Readonly<Record<Work, number>> = {
  create: 3,
  get: 3,
  list: 3,
  update: 3,
  'merge patch': 3,
  'server-side apply': 2,
  delete: 3,
};

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- server',
    names: [],
    options: {
      protocol: { value: 'NAME', choices: ['h2', 'http/1.1'], help: 'h2 or http/1.1; both unless given' },
      quick: { help: 'for development: smaller and shorter' },
      kinds: { value: 'NAMES', help: `these kinds alone, separated by commas: ${Object.keys(kinds).join(', ')}` },
      connections: {
        value: 'NUMBERS',
        help: 'these numbers of connections alone, separated by commas: for --kinds, else for configmaps and pods',
      },
    },
  });
  const protocols = (values.protocol ? [values.protocol] : ['h2', 'http/1.1']) as Protocol[];
  const durationMs = values.quick ? 1_500 : 4_000;
  const compared = {
    startTheirs: startKubernetes,
    startOurs: () => startHangar('embedded'),
    protocol: protocols[0]!,
    durationMs,
  };
  const items = (list = ''): string[] => list.split(',').filter((item) => item !== '');
  if (values.kinds !== undefined || values.connections !== undefined) {
    const connections = items(values.connections).map((item) => wholeNumber('connections', item, connectionsDefault));
    const selection = { kinds: items(values.kinds), connections };
    return printBars(await compare(comparisons(selection), compared));
  }
  console.log(
    `TLS, ${connectionsDefault} connections, ConfigMaps of 1 KiB; each server alone, ${durationMs / 1000} s a work`,
  );
  const kubernetes = await figures(startKubernetes, protocols, durationMs);
  const hangar = await figures(() => startHangar('embedded'), protocols, durationMs);
  const onEtcd = await createsOnly(() => startHangar('etcd'), protocols, durationMs);
  const bars = report(protocols, kubernetes, hangar, onEtcd);
  return printBars([...bars, ...(await compare(everything(), compared))]);
}

/** Lets the JIT compile before the measurement; the other server gets the same load, and needs it less. */
async function warmUp(server: Server, work: Work, protocol: Protocol, round: number): Promise<void> {
  if (work !== 'delete') await measure(server, work, { protocol, round: round + 100, durationMs: 1_000 });
}

/** Memory of the startup is released in this time. */
const idleMs = 10_000;

async function figures(
  start: () => Promise<Server>,
  protocols: readonly Protocol[],
  durationMs: number,
): Promise<Figures> {
  // Started once before it counts: caches of the system and of Node are warm for both.
  await (await start()).stop();
  const server = await start();
  try {
    console.log(`\n${server.name}`);
    await sleep(idleMs);
    const idleMiB = residentMiB(server.pids);
    await prepare(server);
    const measured = new Map<string, Measured>();
    for (const [round, protocol] of protocols.entries()) {
      let created = 0;
      for (const work of works) {
        await warmUp(server, work, protocol, round);
        const requests = work === 'delete' ? { requestsMax: created } : {};
        const one = await measure(server, work, { protocol, round, durationMs, ...requests });
        if (work === 'create') created = one.requests;
        measured.set(`${work} ${protocol}`, one);
        console.log(`  ${protocol.padEnd(8)} ${work.padEnd(18)} ${thousands(one.perSecond).padStart(7)}/s`);
      }
    }
    const watches = new Map<Protocol, { p50Ms: number; p99Ms: number }>();
    for (const protocol of protocols) watches.set(protocol, await watchLatency(server, 100, protocol));
    const definitions: number[] = [];
    for (let round = 0; round < 3; round++) definitions.push(await definitionLatencyMs(server, round));
    return {
      startMs: server.startMs,
      idleMiB,
      works: measured,
      watchP50Ms: new Map([...watches].map(([protocol, { p50Ms }]) => [protocol, p50Ms])),
      watchP99Ms: new Map([...watches].map(([protocol, { p99Ms }]) => [protocol, p99Ms])),
      definitionMs: definitions.sort((a, b) => a - b)[1]!,
      loadedMiB: residentMiB(server.pids),
    };
  } finally {
    await server.stop();
  }
}

async function createsOnly(
  start: () => Promise<Server>,
  protocols: readonly Protocol[],
  durationMs: number,
): Promise<ReadonlyMap<string, Measured>> {
  const server = await start();
  try {
    await prepare(server);
    const measured = new Map<string, Measured>();
    for (const [round, protocol] of protocols.entries()) {
      await warmUp(server, 'create', protocol, round);
      measured.set(protocol, await measure(server, 'create', { protocol, round, durationMs }));
    }
    return measured;
  } finally {
    await server.stop();
  }
}

function report(
  protocols: readonly Protocol[],
  kubernetes: Figures,
  hangar: Figures,
  onEtcd: ReadonlyMap<string, Measured>,
): Bar[] {
  const bars: Bar[] = [];
  for (const protocol of protocols) {
    const rows = works.map((name) => {
      const [theirs, ours] = [kubernetes, hangar].map((one) => one.works.get(`${name} ${protocol}`)!) as [
        Measured,
        Measured,
      ];
      bars.push({
        what: `${name}, ${protocol}`,
        measured: ours.perSecond / theirs.perSecond,
        bar: ratioOf[name],
        must: 'at least',
      });
      bars.push({
        what: `${name}, ${protocol}, by CPU`,
        measured: theirs.cpuMs / ours.cpuMs,
        bar: 4,
        must: 'at least',
      });
      return rowOf(name === 'list' ? 'list of 500' : name, theirs, ours);
    });
    const etcd = onEtcd.get(protocol)!;
    const theirs = kubernetes.works.get(`create ${protocol}`)!;
    rows.push(rowOf('create, ours on etcd', theirs, etcd));
    bars.push({
      what: `create on etcd, ${protocol}`,
      measured: etcd.perSecond / theirs.perSecond,
      bar: 1.5,
      must: 'at least',
    });
    const header = [
      protocol,
      'kube/s',
      'hangar/s',
      'ratio',
      'kube p50/p99 ms',
      'hangar p50/p99 ms',
      'kube CPU ms',
      'hangar CPU ms',
    ];
    console.log(`\n${table(header, rows)}`);
    const [a, b] = [kubernetes, hangar].map(
      (one) => `${ms(one.watchP50Ms.get(protocol)!)}/${ms(one.watchP99Ms.get(protocol)!)}`,
    );
    console.log(`watch, 100 watchers, send to event p50/p99: kube ${a} ms, hangar ${b} ms`);
    bars.push({
      what: `watch p99 against theirs, ${protocol}`,
      measured: hangar.watchP99Ms.get(protocol)! / kubernetes.watchP99Ms.get(protocol)!,
      bar: 1,
      must: 'at most',
    });
  }
  console.log(
    `\nnew definition to first object: kube ${ms(kubernetes.definitionMs)} ms, hangar ${ms(hangar.definitionMs)} ms`,
  );
  console.log(`start to /readyz: kube ${ms(kubernetes.startMs)} ms, hangar ${ms(hangar.startMs)} ms`);
  console.log(
    `idle memory: kube ${ms(kubernetes.idleMiB)} MiB, hangar ${ms(hangar.idleMiB)} MiB; after the load ${ms(kubernetes.loadedMiB)} and ${ms(hangar.loadedMiB)} MiB`,
  );
  bars.push({
    what: 'definition sooner',
    measured: kubernetes.definitionMs / hangar.definitionMs,
    bar: 20,
    must: 'at least',
  });
  bars.push({ what: 'start sooner', measured: kubernetes.startMs / hangar.startMs, bar: 5, must: 'at least' });
  bars.push({
    what: 'idle memory against theirs',
    measured: hangar.idleMiB / kubernetes.idleMiB,
    bar: 1 / 3,
    must: 'at most',
  });
  return bars;
}

function rowOf(name: string, theirs: Measured, ours: Measured): string[] {
  return [
    name,
    thousands(theirs.perSecond),
    thousands(ours.perSecond),
    (ours.perSecond / theirs.perSecond).toFixed(2),
    `${ms(theirs.p50Ms)}/${ms(theirs.p99Ms)}`,
    `${ms(ours.p50Ms)}/${ms(ours.p99Ms)}`,
    theirs.cpuMs.toFixed(3),
    ours.cpuMs.toFixed(3),
  ];
}

const ms = (value: number): string => (value < 10 ? value.toFixed(1) : Math.round(value).toString());
