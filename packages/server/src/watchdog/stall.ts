/**
 * Computes from two beats of the watched thread, and the samples between, which activity took the time.
 *
 *     beat     due      samples                            beat
 *     ├────────┼────────A──A──A──B──B───────────────B───────┤
 *     │ unknown         │ A   │?? │B│ B, a native call │ unknown
 *
 * A sample shows one moment, not the time before it. The time between two samples counts for an activity if both saw it. A sample that
 * could not interrupt (a long native call) is taken when that call returns, within the activity that made it: the time since the request
 * for the sample counts for that activity. All other time counts for no activity.
 */

import { beatEveryMs, lateSampleMs, stallMs } from './contract.ts';
import type { Beat, Sample, Stall, StallPart } from './contract.ts';

export interface Silence {
  readonly before: Beat;
  readonly samples: readonly Sample[];
  readonly beat: Beat;
}

/** Returns undefined if the beat was on time. */
export function stallOf(silence: Silence): Stall | undefined {
  const fromMs = silence.before.atMs + beatEveryMs;
  const untilMs = silence.beat.atMs;
  return untilMs - fromMs < stallMs ? undefined : { fromMs, untilMs, parts: partsOf(silence) };
}

function partsOf({ before, samples, beat }: Silence): StallPart[] {
  const parts = new Map<number, StallPart>();
  const add = (activity: Sample['activity'], ms: number): void => {
    const id = activity?.id ?? 0;
    if (ms > 0) parts.set(id, { activity, ms: (parts.get(id)?.ms ?? 0) + ms });
  };
  let last: Beat & Partial<Sample> = before;
  for (const sample of samples) {
    const ms = usedMs(last, sample);
    const knownMs = last.activity?.id === sample.activity?.id ? ms : Math.min(ms, lateMs(sample));
    add(sample.activity, knownMs);
    add(undefined, ms - knownMs);
    last = sample;
  }
  add(undefined, usedMs(last, beat));
  return [...parts.values()].sort((a, b) => b.ms - a.ms);
}

const usedMs = (from: Beat, until: Beat): number =>
  Math.max(0, Math.min(until.atMs - from.atMs, until.cpuMs - from.cpuMs));

function lateMs({ askedMs, atMs }: Sample): number {
  const ms = atMs - askedMs;
  return ms > lateSampleMs ? ms : 0;
}

/**
 * Returns the stall without pauses of the garbage collector, which are not attributed to an activity. Only long ones: many short ones are
 * caused by the activity's own garbage.
 */
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
