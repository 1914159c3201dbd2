/** Times of a schedule: cron expressions of five fields in a time zone. */

import { Cron } from 'croner';
import { asError } from '@hangar/core';
import { ReferenceFault } from '../errors.ts';

export interface CronTimes {
  /** Returns the first time after this one. Undefined: there is none. */
  next(afterMs: number): number | undefined;
  /** Returns the last time that is not after this one. */
  previous(atMs: number): number | undefined;
}

const shape = /^(@(hourly|daily|weekly|monthly)|\S+(\s+\S+){4})$/;

/** Throws `ScheduleInvalid`. */
export function parseCron(text: string, timeZone = 'UTC'): CronTimes {
  const schedule = text.trim();
  const advice = 'use five fields such as "0 2 * * *", or @hourly, @daily, @weekly or @monthly';
  if (!shape.test(schedule)) throw invalid(schedule, `it is not a cron expression: ${advice}`);
  const cron = checked(schedule, () => new Cron(schedule, { timezone: timeZone, paused: true, mode: '5-part' }));
  const next = (afterMs: number): number | undefined => cron.nextRun(new Date(afterMs))?.getTime();
  // The time zone is checked with the first computation.
  if (checked(schedule, () => next(Date.UTC(2026, 0, 1))) === undefined) throw invalid(schedule, 'it has no times');
  return {
    next,
    // The library excludes the time itself, and times are whole seconds.
    previous: (atMs) => cron.previousRuns(1, new Date((Math.floor(atMs / 1_000) + 1) * 1_000))[0]?.getTime(),
  };
}

function checked<T>(schedule: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw invalid(schedule, asError(error).message, error);
  }
}

const invalid = (schedule: string, problem: string, cause?: unknown): ReferenceFault =>
  new ReferenceFault('ScheduleInvalid', `schedule ${JSON.stringify(schedule)}: ${problem}`.slice(0, 500), { cause });
