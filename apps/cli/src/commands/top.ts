/** `hangar top`: shows the current activity of tenants, the busiest first. */

import type { Client } from '@hangar/client';
import { hasCode, sleep } from '@hangar/core';
import type { Call, Command } from '../command.ts';
import { Counts } from '../top/counts.ts';
import { Recommendations } from '../top/recommendations.ts';
import { isCountedFor, rowsOf, sorted, sortings } from '../top/rows.ts';
import type { Sorting, TopRow } from '../top/rows.ts';
import { printedValue } from '../terminal/printed.ts';
import { stylesOf } from '../terminal/styles.ts';
import { takeSample } from '../top/sample.ts';
import type { Sample } from '../top/sample.ts';
import { enterScreen, leaveScreen, rowsAsList, rowsThatFit, screen, topTable } from '../top/screen.ts';
import { durationMs } from './common/timeout.ts';

export const top: Command = {
  name: 'top',
  summary: 'show the usage of tenants: requests, objects, bytes, memory, watches',
  description:
    'On a terminal the table is updated until q or Ctrl-C; otherwise, and with --once, it is printed once. If there are very many tenants, only active tenants are shown, unless they are sorted by objects or bytes. MEMORY is the size of the objects that the server caches now, SHARE is its share of all caches. RECOMMENDED appears if spec.promotion of a class recommends another mode for a control plane.',
  args: [],
  options: [
    { name: 'once', meaning: 'print one table of all tenants' },
    {
      name: 'sort',
      value: 'COLUMN',
      meaning: `${sortings.join(', ')} (default: requests)`,
      oneOf: sortings,
      completes: sortings,
    },
    {
      name: 'output',
      short: 'o',
      value: 'FORMAT',
      meaning: 'json or yaml: print one sample of all tenants',
      oneOf: ['json', 'yaml'],
      completes: ['json', 'yaml'],
    },
    {
      name: 'interval',
      value: 'TIME',
      meaning: 'time between two samples, which requests per second are computed from (default: 2s)',
    },
  ],
  examples: ['top', 'top --once --sort objects', 'top -o json'],
  isConnected: true,
  run: look,
};

const defaultIntervalMs = 2_000;
const intervalMinMs = 200;
/** Up to this many tenants, idle ones are shown as well. */
const idleMax = 500;

interface Looking extends Pick<Call, 'session'> {
  readonly client: Client;
  readonly sorting: Sorting;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

async function look({ session, given, client }: Call): Promise<void> {
  const sorting = (given.text('sort') ?? 'requests') as Sorting;
  const intervalMs = Math.max(intervalMinMs, durationMs('interval', given.text('interval')) ?? defaultIntervalMs);
  const looking = { session, client: await client(), sorting, intervalMs, signal: session.signal };
  const format = given.text('output') as 'json' | 'yaml' | undefined;
  if (format !== undefined) return session.out.write(printedValue(format, rowsAsList(await sampledRows(looking))));
  if (given.flag('once') || session.out.size() === undefined) {
    const style = stylesOf(session.out, session.env);
    return session.out.write(topTable(await sampledRows(looking), style));
  }
  return live(looking);
}

const sampled = ({ client, session, signal }: Looking, includesIdle: boolean, isCounted: boolean): Promise<Sample> =>
  takeSample(client, { includesIdle, isCounted, nowMs: () => session.clock.monotonicMs(), signal });

async function sampledRows(looking: Looking): Promise<TopRow[]> {
  const { session, sorting, intervalMs, signal } = looking;
  const before = await sampled(looking, true, false);
  await sleep(session.clock, intervalMs, signal);
  const rows = rowsOf(await sampled(looking, true, true), before);
  return sorted(await new Recommendations(looking.client, session.clock).of(rows, signal), sorting);
}

async function live(looking: Looking): Promise<void> {
  const { session } = looking;
  const done = new AbortController();
  const signal = AbortSignal.any([session.signal, done.signal]);
  session.keys?.((key) => {
    if (key === 'q' || key === '\u001b') done.abort();
    // In raw mode Ctrl-C arrives as a key.
    if (key === '\u0003') done.abort();
  }, signal);
  session.out.write(enterScreen);
  try {
    await drawn({ ...looking, signal });
  } catch (error) {
    if (!signal.aborted || !hasCode(error, 'Aborted')) throw error;
  } finally {
    done.abort();
    session.out.write(leaveScreen);
  }
}

async function drawn(looking: Looking): Promise<never> {
  const { session, client, sorting, intervalMs, signal } = looking;
  const counts = new Counts(client);
  const recommendations = new Recommendations(client, session.clock);
  let before: Sample | undefined;
  for (;;) {
    const includesIdle = isCountedFor(sorting) || before === undefined || before.tenants <= idleMax;
    // All tenants are counted once; after that, only those that are shown and were written to.
    const sample = await sampled(looking, includesIdle, before === undefined && isCountedFor(sorting));
    const size = session.out.size() ?? { columns: 80, rows: 24 };
    const all = sorted(counts.remembered(rowsOf(sample, before)), sorting);
    const counted = await counts.of(all.slice(0, rowsThatFit(size)), signal);
    const rows = await recommendations.of(counted, signal);
    const shownOf =
      all.length < sample.tenants ? `${all.length} in use of ${sample.tenants} tenants` : `${all.length} tenants`;
    const title = `${shownOf}, by ${sorting}, every ${intervalMs / 1_000} s; press q to quit`;
    session.out.write(screen(title, topTable(rows), size));
    before = sample;
    await sleep(session.clock, intervalMs, signal);
  }
}
