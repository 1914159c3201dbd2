/**
 * Programs are killed at every step of a migration, while a client writes: the server with the operators and the front door, the etcd of the
 * dedicated side, its kube-apiserver. Every migration completes without help, no acknowledged write is lost or done twice, and never two
 * sides are writable: the histories of both are compared (`testing/writable-side.ts`).
 *
 * HANGAR_MIGRATION_KILLS=all     every point with every program, more than an hour; without it, one migration in each direction
 * HANGAR_MIGRATION_KILLS=3/8     the third of eight parts of them, each with its own platform
 * HANGAR_MIGRATION_KILLS=8-11    these rounds of them
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../bench/table.ts';
import { InterruptedMigrations } from './testing/interrupted-migrations.ts';
import type { RoundResult } from './testing/interrupted-migrations.ts';
import { selectedRounds } from './testing/kill-points.ts';

const objects = 300;
/** A busy machine must copy faster than the client writes. */
const writesPerSecond = 20;

test('a migration completes after the kill of any program at any step, and never two sides are writable', async () => {
  await using migrations = await InterruptedMigrations.start({ objects, writesPerSecond });
  const results: RoundResult[] = [];
  const rows: string[][] = [];
  const missed: string[] = [];
  try {
    for (const round of selectedRounds(process.env['HANGAR_MIGRATION_KILLS'])) {
      const result = await migrations.round(round);
      results.push(result);
      rows.push(...rowsOf(result));
      missed.push(...missedOf(result));
      if (!result.killed.some(({ kill }) => kill.victim === 'hangar')) await migrations.readHistory();
    }
  } finally {
    console.log(table(['to', 'step', 'killed at', 'program', 'complete after', 'outcome', 'attempts', 'pause'], rows));
  }
  const { acknowledged, failed, faults } = await migrations.finish();
  console.log(`${results.length} migrations, ${rows.length} kills, ${acknowledged} writes, ${failed} failed requests`);
  assert.deepEqual(faults.slice(0, 20), []);
  assert.deepEqual(missed, [], 'points that were not reached');
});

const rowsOf = ({ round, killed, outcomes, attempts, longestPauseMs }: RoundResult): string[][] =>
  killed.map(({ kill, recoveredMs }) => [
    round.to,
    kill.step,
    kill.at.replace(/^(controlplane\.migration|hosted)[.-]/, ''),
    kill.victim,
    seconds(recoveredMs),
    outcomes.join(', '),
    String(attempts),
    seconds(longestPauseMs),
  ]);

const missedOf = ({ round, killed }: RoundResult): string[] =>
  round.kills
    .filter((kill) => !killed.some((one) => one.kill === kill))
    .map(({ at, victim }) => `${round.to}: ${victim} at ${at}`);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
