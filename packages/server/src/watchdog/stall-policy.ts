/**
 * Decides when a tenant is quarantined, and for how long.
 *
 *     stalls     within the window, `longStallsMax` above a second that took `longStalledMinMs` in total,
 *                or `stallsMax` above 100 ms that took `stalledMinMs` in total
 *     crashes    one that the tenant's activity has caused for certain, or three during which it was running, within an hour
 *     duration   `durationMs`, twice as long each time; a day without a quarantine, or `resumed`, starts from the beginning
 *
 * Crashes and the number of quarantines are kept in a file: a crash ends the memory of this process. If the file cannot be
 * written, they are kept in memory.
 */

import { readFileSync } from 'node:fs';
import type { Clock, Logger } from '@hangar/core';
import type { CrashRecord, SampledActivity } from './contract.ts';
import { replaceFile } from './replace-file.ts';

export interface QuarantineLimits {
  readonly stallsMax: number;
  readonly longStallsMax: number;
  /** The time of all stalls above 100 ms in the window. On a slow CPU, ordinary requests take 100 ms now and then. */
  readonly stalledMinMs: number;
  /** The time of all stalls above a second in the window. */
  readonly longStalledMinMs: number;
  readonly windowMs: number;
  /** Stalls are not counted for this long after the start: a new process loads and compiles code within requests. */
  readonly graceMs: number;
  /** Duration of the first quarantine. 0: no tenant is ever quarantined. */
  readonly durationMs: number;
}

export const defaultQuarantineLimits: QuarantineLimits = {
  stallsMax: 10,
  longStallsMax: 3,
  stalledMinMs: 30_000,
  longStalledMinMs: 10_000,
  windowMs: 600_000,
  graceMs: 120_000,
  durationMs: 600_000,
};

export interface QuarantineVerdict {
  readonly tenant: string;
  readonly reason: 'EventLoopStalls' | 'ProcessCrash';
  readonly message: string;
  readonly durationMs: number;
}

export interface StallPolicyOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly limits?: Partial<QuarantineLimits>;
  /** Absent: records are lost with the process. */
  readonly file?: string;
  readonly log?: Pick<Logger, 'error'>;
}

interface TenantRecord {
  /** Times of crashes; one that is certain is there `crashesMax` times. */
  crashes: number[];
  quarantines: number;
  /** End of the last quarantine. */
  untilMs: number;
}

interface Stalled {
  readonly atMs: number;
  readonly ms: number;
}

export const longStallMs = 1_000;
const crashesMax = 3;
const crashWindowMs = 3_600_000;
const forgottenAfterMs = 86_400_000;
const durationMaxMs = 86_400_000;

export class StallPolicy {
  readonly #options: StallPolicyOptions;
  readonly #limits: QuarantineLimits;
  readonly #records: Map<string, TenantRecord>;
  readonly #stalls = new Map<string, Stalled[]>();
  readonly #startedMs: number;

  constructor(options: StallPolicyOptions) {
    this.#options = options;
    this.#limits = { ...defaultQuarantineLimits, ...options.limits };
    this.#startedMs = options.clock.monotonicMs();
    this.#records = options.file === undefined ? new Map() : readRecords(options.file);
  }

  /** Counts a stall of an accountable activity. Returns undefined if the tenant is not quarantined. */
  stalled(activity: SampledActivity, ms: number): QuarantineVerdict | undefined {
    const { tenant } = activity;
    const { clock } = this.#options;
    const { stallsMax, longStallsMax, stalledMinMs, longStalledMinMs, windowMs, graceMs } = this.#limits;
    if (clock.monotonicMs() - this.#startedMs < graceMs) return undefined;
    const atMs = clock.now();
    this.#forgetStalls(atMs);
    const stalls = [...(this.#stalls.get(tenant) ?? []), { atMs, ms }];
    this.#stalls.set(tenant, stalls);
    const long = stalls.filter((stall) => stall.ms >= longStallMs);
    const isLong = long.length >= longStallsMax && totalMs(long) >= longStalledMinMs;
    if (!isLong && (stalls.length < stallsMax || totalMs(stalls) < stalledMinMs)) return undefined;
    this.#stalls.delete(tenant);
    const [counted, bound] = isLong ? [long, '1 s'] : [stalls, '100 ms'];
    const total = `${Math.round(totalMs(counted) / 100) / 10} s`;
    return this.#verdict(tenant, 'EventLoopStalls', [
      `${counted.length} requests blocked the server for more than ${bound} each, ${total} in total, within ${minutes(windowMs)}`,
      `last: ${described(activity)}, ${Math.round(ms)} ms`,
    ]);
  }

  /** Counts a crash during the activity. Returns undefined if it is not counted, or if the tenant is not quarantined. */
  crashed({ activity, at, isCertain, reason }: CrashRecord): QuarantineVerdict | undefined {
    const { tenant } = activity;
    const record = this.#recordOf(tenant);
    const sinceMs = this.#options.clock.now() - crashWindowMs;
    const times = Array<number>(isCertain ? crashesMax : 1).fill(at);
    record.crashes = [...record.crashes, ...times].filter((one) => one > sinceMs);
    if (record.crashes.length < crashesMax) {
      this.#save();
      return undefined;
    }
    record.crashes = [];
    return this.#verdict(tenant, 'ProcessCrash', ['the server exited during its work', described(activity), reason]);
  }

  /** Forgets the tenant's crashes and quarantines, after an administrator lifted its quarantine. */
  resumed(tenant: string): void {
    this.#stalls.delete(tenant);
    if (this.#records.delete(tenant)) this.#save();
  }

  #verdict(
    tenant: string,
    reason: QuarantineVerdict['reason'],
    parts: readonly string[],
  ): QuarantineVerdict | undefined {
    const { durationMs: firstMs } = this.#limits;
    if (firstMs === 0) return undefined;
    const nowMs = this.#options.clock.now();
    const record = this.#recordOf(tenant);
    if (record.untilMs + forgottenAfterMs < nowMs) record.quarantines = 0;
    const durationMs = Math.min(firstMs * 2 ** record.quarantines, Math.max(firstMs, durationMaxMs));
    record.quarantines++;
    record.untilMs = nowMs + durationMs;
    this.#save();
    return { tenant, reason, message: parts.join('; '), durationMs };
  }

  #recordOf(tenant: string): TenantRecord {
    let record = this.#records.get(tenant);
    if (!record) this.#records.set(tenant, (record = { crashes: [], quarantines: 0, untilMs: 0 }));
    return record;
  }

  #forgetStalls(nowMs: number): void {
    for (const [tenant, stalls] of this.#stalls) {
      const kept = stalls.filter(({ atMs }) => atMs > nowMs - this.#limits.windowMs);
      if (kept.length > 0) this.#stalls.set(tenant, kept);
      else this.#stalls.delete(tenant);
    }
  }

  #save(): void {
    const { file, clock, log } = this.#options;
    if (file === undefined) return;
    const nowMs = clock.now();
    for (const [tenant, { crashes, untilMs }] of this.#records) {
      const isOld = crashes.every((at) => at < nowMs - crashWindowMs) && untilMs + forgottenAfterMs < nowMs;
      if (isOld) this.#records.delete(tenant);
    }
    try {
      replaceFile(file, JSON.stringify(Object.fromEntries(this.#records)));
    } catch (error) {
      log?.error('failed to save the crashes and quarantines of tenants', { file, error: error as Error });
    }
  }
}

/** Returns the text for messages that are stored. Without the query string, which may hold secrets. */
export const described = ({ user, verb, resource }: SampledActivity): string =>
  `${verb} ${resource.split('?', 1)[0]}${user === '' ? '' : ` by "${user}"`}`;

const totalMs = (stalls: readonly Stalled[]): number => stalls.reduce((sum, { ms }) => sum + ms, 0);

const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10} minutes`;

/** A file that cannot be read counts as empty, a value that is not valid as absent: the file holds only earlier crashes and quarantines. */
function readRecords(file: string): Map<string, TenantRecord> {
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    return new Map(Object.entries(read).map(([tenant, record]) => [tenant, validRecord(record)]));
  } catch {
    return new Map();
  }
}

function validRecord(read: unknown): TenantRecord {
  const { crashes, quarantines, untilMs } = (read ?? {}) as Partial<Record<keyof TenantRecord, unknown>>;
  return {
    crashes: Array.isArray(crashes) ? crashes.filter(isFiniteNumber) : [],
    quarantines: isFiniteNumber(quarantines) ? quarantines : 0,
    untilMs: isFiniteNumber(untilMs) ? untilMs : 0,
  };
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value);
