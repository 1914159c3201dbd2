/**
 * Kills a writer process repeatedly, on the same data, and lets the next one report the content of the store. The next process is started
 * while the current one works, so that a round costs little more than its planned lifetime.
 */

import { chance } from '@hangar/core';
import type { Random } from '@hangar/core';
import { Ledger } from './ledger.ts';
import { enter } from './telling.ts';
import type { Told } from './telling.ts';
import { Victim } from './victim.ts';
import type { WriterOptions } from './writer.ts';

export interface CrashOptions {
  kills: number;
  random: Random;
  writer: Omit<WriterOptions, 'round'>;
  compileCache: string;
  /** A request of a killed process may still be in flight. */
  mayBeLate: boolean;
  /** Occasionally kills something else first, while the writer continues. */
  disturb?: (victim: Victim, round: number) => Promise<void>;
  log(line: string): void;
}

export interface CrashReport {
  ledger: Ledger;
  kills: number;
  /** Number of processes that got as far as reporting the content. */
  comparisons: number;
}

/** A process that does not get here in this time hangs. */
const patienceMs = 60_000;

export async function crashRounds(options: CrashOptions): Promise<CrashReport> {
  const { kills, log } = options;
  const ledger = new Ledger();
  const report = { ledger, kills: 0, comparisons: 0 };
  const failures: string[] = [];
  const hear = (told: Told) => {
    const rest = enter(ledger, told);
    if (rest?.[0] === 'failed') failures.push(rest[1]);
    if (rest?.[0] !== 'state') return;
    report.comparisons++;
    ledger.compare({ revision: rest[1], entries: new Map(rest[2]) }, { mayBeLate: options.mayBeLate });
  };
  const living = new Set<Victim>();
  const start = (round: number) => {
    const victim = new Victim({ ...options.writer, round, compileCache: options.compileCache, hear });
    living.add(victim);
    return victim;
  };
  try {
    let next = start(0);
    // One more than is killed at work: the last one only reads.
    for (let round = 0; round <= kills; round++) {
      const victim = next;
      if (round < kills) next = start(round + 1);
      victim.go();
      if (round < kills) await oneLife(victim, round, options);
      else await within(patienceMs, victim.next('state'), 'the last look');
      living.delete(victim);
      await victim.kill();
      if (failures.length > 0) throw new Error(`the writer failed: ${failures.join('; ')}`);
      ledger.leaveAllOpen();
      if (round < kills) report.kills++;
      if (report.kills % 20 === 0 && round < kills) log(progress(report));
      if (ledger.violations.length > 0) break;
    }
  } finally {
    await Promise.allSettled([...living].map((victim) => victim.kill()));
  }
  return report;
}

async function oneLife(victim: Victim, round: number, { random, disturb }: CrashOptions): Promise<void> {
  if (round > 0 && chance(random, 0.1)) return pause(random.below(80)); // while it opens, or just after
  await within(patienceMs, victim.next('acknowledged'), 'the first acknowledgement');
  await pause(5 + random.below(145));
  await disturb?.(victim, round);
}

export function progress({ ledger, kills }: CrashReport): string {
  const { acknowledged, unknown, missing, invented } = ledger.counts;
  return `${kills} kills, ${acknowledged} acknowledged, ${unknown} left open, ${missing} missing, ${invented} invented`;
}

export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

export async function within<T>(limitMs: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
