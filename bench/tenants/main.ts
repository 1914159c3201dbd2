/**
 * `npm run bench -- tenants`: the cost of a virtual control plane, and of the alternatives: a kube-apiserver for each on one etcd, and kcp.
 * Hangar runs as `bin/hangar.js` with its embedded store; the load comes from separate processes.
 *
 *     npm run bench -- tenants [--quick] [--profile FOLDER] [growth|objects|flood|definitions|destroy|alternatives …]
 *
 * Without names all of them are measured. With growth and alternatives in one run, the curves are drawn into docs/benchmarks.
 * `--quick` is for development: fewer tenants, nothing drawn. `--profile` has each server write a CPU profile.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { table } from '../table.ts';
import { kcpWorkspaces, serverPerTenant } from './alternatives.ts';
import type { Alternative } from './alternatives.ts';
import { drawGrowth, median } from './curves.ts';
import { definitions } from './definitions.ts';
import { growth } from './growth.ts';
import type { Growth } from './growth.ts';
import { destroy, flood } from './neighbour.ts';
import type { Neighbour } from './neighbour.ts';
import { objects } from './objects.ts';

const names = ['growth', 'objects', 'flood', 'definitions', 'destroy', 'alternatives'] as const;
type Name = (typeof names)[number];

interface Sizes {
  readonly growth: readonly number[];
  readonly objects: readonly number[];
  readonly floodMs: number;
  readonly definitions: readonly [tenants: number, few: number];
  readonly destroyed: number;
  readonly servers: number;
  readonly workspaces: number;
  readonly kcpIdleMs: number;
}

const full: Sizes = {
  growth: [1, 10, 100, 1_000, 10_000],
  objects: [10, 100, 1_000],
  floodMs: 4_000,
  definitions: [1_000, 10],
  destroyed: 10_000,
  servers: 3,
  workspaces: 40,
  kcpIdleMs: 130_000,
};

const quick: Sizes = {
  growth: [10, 100, 1_000],
  objects: [100],
  floodMs: 2_000,
  definitions: [200, 10],
  destroyed: 2_000,
  servers: 1,
  workspaces: 3,
  kcpIdleMs: 15_000,
};

const results = resolve(import.meta.dirname, '../../docs/benchmarks');

export async function run(args: string[]): Promise<boolean> {
  const { values, names: given } = readCommandLine(args, {
    usage: 'npm run bench -- tenants',
    names,
    options: {
      quick: { help: 'for development: smaller and shorter' },
      profile: { value: 'FOLDER', help: 'each server writes a CPU profile there' },
    },
  });
  const isWanted = (name: Name): boolean => given.length === 0 || given.includes(name);
  const sizes = values.quick ? quick : full;
  const nodeFlags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`];
  const bars: Bar[] = [];
  const measured: Record<string, unknown> = {};

  const heading = (title: string): void => console.log(`\n${title}`);
  if (isWanted('growth')) {
    heading('tenants made 8 at a time, each touched once by its own kubeconfig, then idle');
    const grown = await growth(sizes.growth, nodeFlags);
    measured['growth'] = grown;
    bars.push(...growthBars(grown));
  }
  if (isWanted('objects')) {
    heading('tenants that are used');
    const used = await objects(nodeFlags, sizes.objects);
    measured['objects'] = used;
    const { watches, watchedTenants, watchingMiB, watchingCpu, events, eventsExpected, eventCpuMs } = used;
    console.log(
      `  ${watches} watches in ${watchedTenants} of them: ${watchingMiB.toFixed(0)} MiB, ${(watchingCpu * 100).toFixed(2)} % of a core when nothing is written; ${events.count} of ${eventsExpected} events came, p50 ${events.p50Ms.toFixed(1)}, p99 ${events.p99Ms.toFixed(1)} ms from sending the write, ${(eventCpuMs * 1000).toFixed(0)} µs of the server's CPU for each`,
    );
    bars.push({
      what: 'events that came of those that must',
      measured: events.count / eventsExpected,
      bar: 1,
      must: 'at least',
    });
  }
  if (isWanted('flood')) {
    heading(
      'a neighbour of 4 connections with 100 gets a second each, while another tenant floods with 64 connections',
    );
    const flooded = await flood(nodeFlags, sizes.floodMs);
    measured['flood'] = flooded;
    console.log(
      `  ${neighbourLine(flooded)}; the flood got ${flooded.floodPerSecond.toFixed(0)} answers a second and ${flooded.refusedPerSecond.toFixed(0)} times 429`,
    );
    bars.push(neighbourBar('neighbour of a flood, p99 against its quiet p99', flooded));
  }
  if (isWanted('definitions')) {
    heading('the same definition');
    const [tenants, few] = sizes.definitions;
    const defined = await definitions(nodeFlags, tenants, few);
    measured['definitions'] = defined;
    bars.push({
      what: `the same definition in ${tenants} tenants, memory against ${few}`,
      measured: defined.allMiB / defined.fewMiB,
      bar: 1.05,
      must: 'at most',
    });
  }
  if (isWanted('destroy')) {
    heading('a tenant is destroyed beside a neighbour of 4 connections with 100 gets a second each');
    const destroyed = await destroy(nodeFlags, sizes.destroyed);
    measured['destroy'] = destroyed;
    console.log(
      `  ${destroyed.objects} objects were gone after ${destroyed.destroyMs.toFixed(0)} ms; ${neighbourLine(destroyed)}`,
    );
    bars.push({
      what: `destroy ${destroyed.objects} objects`,
      measured: destroyed.destroyMs,
      bar: 1_000,
      must: 'at most',
      unit: ' ms',
    });
    bars.push(neighbourBar('neighbour of a destroyed tenant, p99 against its quiet p99', destroyed));
  }
  const alternatives: Alternative[] = [];
  if (isWanted('alternatives')) {
    heading('what else would give one');
    alternatives.push(await serverPerTenant(sizes.servers), await kcpWorkspaces(sizes.workspaces, sizes.kcpIdleMs));
    measured['alternatives'] = alternatives;
    console.log(alternativesTable(alternatives, measured['growth'] as Growth | undefined));
  }
  if (isWanted('growth') && isWanted('alternatives') && !values.quick) await draw(measured, alternatives);
  return printBars(bars);
}

const kib = 1024;

function growthBars({ points, idleCpu, restartMs, restartToTenantMs, alone }: Growth): Bar[] {
  const [before, last] = points.slice(-2) as [Growth['points'][number], Growth['points'][number]];
  const { all } = last.created;
  const more = last.tenants - before.tenants;
  const perTenant = (of: 'residentMiB' | 'diskMiB'): number => ((last[of] - before[of]) / more) * kib;
  console.log(
    `  one at a time: p50 ${alone.all.p50Ms.toFixed(1)}, p99 ${alone.all.p99Ms.toFixed(1)} ms; started again with all of them: ready after ${restartMs.toFixed(0)} ms, a tenant answers after ${restartToTenantMs.toFixed(0)} ms`,
  );
  const atMost = { must: 'at most' } as const;
  return [
    { what: 'create until namespaces answer, 8 at a time, p50', measured: all.p50Ms, bar: 20, ...atMost, unit: ' ms' },
    { what: 'create until namespaces answer, 8 at a time, p99', measured: all.p99Ms, bar: 100, ...atMost, unit: ' ms' },
    { what: `memory with ${last.tenants} tenants`, measured: last.residentMiB, bar: 1024, ...atMost, unit: ' MiB' },
    {
      what: `memory for one more, from ${before.tenants} on`,
      measured: perTenant('residentMiB'),
      bar: 20,
      ...atMost,
      unit: ' KiB',
    },
    {
      what: `disk for one more, from ${before.tenants} on`,
      measured: perTenant('diskMiB'),
      bar: 8,
      ...atMost,
      unit: ' KiB',
    },
    { what: `CPU with ${last.tenants} idle tenants`, measured: idleCpu * 100, bar: 1, ...atMost, unit: ' % of a core' },
    { what: `start with ${last.tenants} tenants`, measured: restartMs, bar: 2_000, ...atMost, unit: ' ms' },
  ];
}

const neighbourLine = ({ quietP50Ms, quietP99Ms, p50Ms, p99Ms }: Neighbour): string =>
  `its gets: quiet p50 ${quietP50Ms.toFixed(2)}, p99 ${quietP99Ms.toFixed(2)} ms; meanwhile p50 ${p50Ms.toFixed(2)}, p99 ${p99Ms.toFixed(2)} ms`;

const neighbourBar = (what: string, { p99Ms, quietP99Ms }: Neighbour): Bar => ({
  what,
  measured: p99Ms / quietP99Ms,
  bar: 2,
  must: 'at most',
});

function alternativesTable(alternatives: readonly Alternative[], grown: Growth | undefined): string {
  const rows = alternatives.map(({ name, readyMs, baseMiB, tenantMiB, createCpuMs }) => [
    name,
    `${median(readyMs).toFixed(0)} ms`,
    `${baseMiB.toFixed(0)} MiB`,
    `${tenantMiB.toFixed(1)} MiB`,
    `${createCpuMs.toFixed(0)} ms`,
  ]);
  if (grown) {
    const [first, before, last] = [grown.points[0]!, ...grown.points.slice(-2)] as Growth['points'][number][];
    const each = (last!.residentMiB - before!.residentMiB) / (last!.tenants - before!.tenants);
    rows.push([
      'Hangar',
      `${grown.alone.all.p50Ms.toFixed(1)} ms`,
      `${first!.residentMiB.toFixed(0)} MiB`,
      `${each.toFixed(3)} MiB`,
      `${last!.createCpuMs.toFixed(1)} ms`,
    ]);
  }
  return table(['one more tenant', 'until it answers', 'memory without', 'memory for it', 'CPU to make it'], rows);
}

async function draw(measured: Readonly<Record<string, unknown>>, alternatives: readonly Alternative[]): Promise<void> {
  await mkdir(results, { recursive: true });
  const summaries = alternatives.map(({ readyMs, ...one }) => ({
    ...one,
    tenants: readyMs.length,
    readyMs: median(readyMs),
  }));
  const figures = { ...measured, alternatives: summaries };
  await writeFile(join(results, 'tenants.json'), `${JSON.stringify(figures, rounded, 2)}\n`);
  await writeFile(join(results, 'tenants.svg'), drawGrowth(measured['growth'] as Growth, alternatives));
  console.log('\nThe curves are in docs/benchmarks/tenants.svg, the figures in tenants.json beside it.');
}

const rounded = (_key: string, value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toPrecision(4)) : value;
