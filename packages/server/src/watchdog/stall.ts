/**
 * Computes from two beats of the watched thread, and the samples between, which activity took the time.
 *
 *     beat           beat      ·      ·      ·      ·      beat
 *                              ├ due  ├ sample A ─ A ─ B    ├ stall: A 130 ms, B 40 ms
 *
 * The time between two samples counts for the activity that the later one saw: a sample that could not interrupt (a long
 * native call) is taken when that call returns, within the activity that made it.
 */

import { beatEveryMs, stallMs } from './contract.ts';
import type { Beat, Sample, Stall, StallPart } from './contract.ts';

export interface Silence {
  readonly before: Beat;
  readonly samples: readonly Sample[];
  readonly beat: Beat;
}

/** Undefined: the beat came in time. */
export function stallOf(silence: Silence): Stall | undefined {
  const fromMs = silence.before.atMs + beatEveryMs;
  const untilMs = silence.beat.atMs;
  return untilMs - fromMs < stallMs ? undefined : { fromMs, untilMs, parts: partsOf(silence) };
}

function partsOf({ before, samples, beat }: Silence): StallPart[] {
  const parts = new Map<number, StallPart>();
  let last = before;
  const add = (until: Beat, activity: Sample['activity']): void => {
    const ms = Math.max(0, Math.min(until.atMs - last.atMs, until.cpuMs - last.cpuMs));
    const id = activity?.id ?? 0;
    parts.set(id, { activity, ms: (parts.get(id)?.ms ?? 0) + ms });
    last = until;
  };
  for (const sample of samples) add(sample, sample.activity);
  add(beat, samples.at(-1)?.activity);
  return [...parts.values()].sort((a, b) => b.ms - a.ms);
}

/** The stall without pauses of the garbage collector, which no activity answers for. Long ones only: many short ones are the activity's own garbage. */
export function withoutPauses(stall: Stall, pauses: readonly Pause[]): Stall {
  let pausedMs = 0;
  for (const { fromMs, untilMs } of pauses) {
    pausedMs += Math.max(0, Math.min(untilMs, stall.untilMs) - Math.max(fromMs, stall.fromMs));
  }
  const wholeMs = stall.parts.reduce((sum, { ms }) => sum + ms, 0);
  if (pausedMs === 0 || wholeMs === 0) return stall;
  const left = Math.max(0, 1 - pausedMs / wholeMs);
  return { ...stall, parts: stall.parts.map(({ activity, ms }) => ({ activity, ms: ms * left })) };
}

export interface Pause {
  readonly fromMs: number;
  readonly untilMs: number;
}
