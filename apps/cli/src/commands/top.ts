/** `hangar top`: what tenants do now, the busiest first. */

import type { Client } from '@hangar/client';
import { hasCode, sleep } from '@hangar/core';
import type { Call, Command } from '../command.ts';
import { Counts } from '../top/counts.ts';
import { isCountedFor, rowsOf, sorted, sortings } from '../top/rows.ts';
import type { Sorting } from '../top/rows.ts';
import { takeSample } from '../top/sample.ts';
import type { Sample } from '../top/sample.ts';
import { enterScreen, leaveScreen, rowsThatFit, screen, topTable } from '../top/screen.ts';
import { durationMs } from './common/timeout.ts';

export const top: Command = {
  name: 'top',
  summary: 'show what tenants do: requests, objects, bytes, memory, watches',
  description:
    'On a terminal the table is drawn anew until q or Ctrl-C; elsewhere, and with --once, it is printed once. Of very many tenants only those that are in use are shown, unless they are sorted by what they have. MEMORY is what is kept in memory of their objects now, SHARE its part of that of all.',
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
      name: 'interval',
      value: 'TIME',
      meaning: 'between two looks, and of what requests a second are counted in (default: 2s)',
    },
  ],
  examples: ['top', 'top --once --sort objects'],
  isConnected: true,
  run: look,
};

const defaultIntervalMs = 2_000;
const intervalMinMs = 200;
/** Of so many, those that are idle are shown as well. */
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
  if (given.flag('once') || session.out.size() === undefined) return once(looking);
  return live(looking);
}

const sampled = ({ client, session, signal }: Looking, includesIdle: boolean, isCounted: boolean): Promise<Sample> =>
  takeSample(client, { includesIdle, isCounted, nowMs: () => session.clock.monotonicMs(), signal });

async function once(looking: Looking): Promise<void> {
  const { session, sorting, intervalMs, signal } = looking;
  const before = await sampled(looking, true, false);
  await sleep(session.clock, intervalMs, signal);
  const rows = rowsOf(await sampled(looking, true, true), before);
  session.out.write(topTable(sorted(rows, sorting)));
}

async function live(looking: Looking): Promise<void> {
  const { session } = looking;
  const done = new AbortController();
  const signal = AbortSignal.any([session.signal, done.signal]);
  session.keys?.((key) => {
    if (key === 'q' || key === '\u001b') done.abort();
    // In raw mode Ctrl-C is a key like any other.
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
  let before: Sample | undefined;
  for (;;) {
    const includesIdle = isCountedFor(sorting) || before === undefined || before.tenants <= idleMax;
    // Everybody is counted once: after that, whoever is shown and was written to.
    const sample = await sampled(looking, includesIdle, before === undefined && isCountedFor(sorting));
    const size = session.out.size() ?? { columns: 80, rows: 24 };
    const all = sorted(counts.remembered(rowsOf(sample, before)), sorting);
    const rows = await counts.of(all.slice(0, rowsThatFit(size)), signal);
    const shownOf =
      all.length < sample.tenants ? `${all.length} in use of ${sample.tenants} tenants` : `${all.length} tenants`;
    const title = `${shownOf}, by ${sorting}, every ${intervalMs / 1_000} s; q ends it`;
    session.out.write(screen(title, topTable(rows), size));
    before = sample;
    await sleep(session.clock, intervalMs, signal);
  }
}
