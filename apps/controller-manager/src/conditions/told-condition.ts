/**
 * One condition of one object: its desired and its known value, and when it may be written next. State only: `ConditionWriter` does the
 * I/O.
 */

import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { Timer } from '@hangar/core';
import type { Service, SourceObject } from '../contract.ts';
import { isSameCondition } from './condition-of.ts';
import type { WantedCondition } from './condition-of.ts';

/** Between two writes of one condition, or after the first read: limits the writes of a flapping condition. */
const pauseMs = 5_000;
/** Between two writes of a condition that another client keeps removing. */
const repairPauseMs = 1_000;

/** `absent`: the condition must not exist. */
export type Wanted = WantedCondition | 'absent';

export class ToldCondition {
  readonly source: SourceObject;
  readonly service: Service;
  wanted: Wanted;
  /** The value on the server: `absent` when there is none, undefined when it must be read. */
  known: Condition | 'absent' | undefined;
  /** Consecutive failures. */
  failures = 0;
  /** Timer of the next step. */
  timer: Timer | undefined;
  /** The step in progress. */
  work: { readonly ending: AbortController; readonly done: Promise<void> } | undefined;
  /** Callers that wait until the condition exists. */
  readonly waiting = new Set<() => void>();
  /** Called on a refusal, while a caller waits. */
  onRefused: ((why: string) => void) | undefined;
  /** Why the last write was refused. */
  refusal: string | undefined;
  /** Monotonic time of the last write. */
  #quietSinceMs: number | undefined;
  #isThere = false;
  #wasReady = false;

  constructor(source: SourceObject, service: Service, wanted: Wanted) {
    this.source = source;
    this.service = service;
    this.wanted = wanted;
  }

  /** The condition exists with any status, or enough attempts to write it failed. */
  get isThere(): boolean {
    return this.#isThere;
  }

  refused(why: string): void {
    this.refusal = why;
    if (this.waiting.size > 0) this.onRefused?.(why);
  }

  isThereNow(): void {
    this.#isThere = true;
    this.refusal = undefined;
    this.onRefused = undefined;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  /** A new caller requests the condition. */
  begin(): void {
    this.#isThere = false;
  }

  /** Reports whether the known value is the desired one. */
  get isDone(): boolean {
    if (this.known === undefined) return false;
    if (this.wanted === 'absent' || this.known === 'absent') return this.wanted === this.known;
    return isSameCondition(this.wanted, this.known);
  }

  /** Returns the delay before the next step. The first condition and the first that is `True` are not delayed. */
  delayMs(nowMs: number): number {
    if (this.known === undefined || this.wanted === 'absent' || this.#quietSinceMs === undefined) return 0;
    if (this.wanted.status === 'True' && !this.#wasReady) return 0;
    return Math.max(0, this.#quietSinceMs + (this.known === 'absent' ? repairPauseMs : pauseMs) - nowMs);
  }

  /** A value that existed before the first write here counts as just written: a change may be temporary. */
  read(condition: Condition | undefined, nowMs: number): void {
    this.known = condition ?? 'absent';
    if (!condition) return;
    if (this.#quietSinceMs === undefined) this.#quietSinceMs = nowMs;
    this.isThereNow();
  }

  wrote(condition: Condition | 'absent', nowMs: number): void {
    this.known = condition;
    this.#quietSinceMs = nowMs;
    if (condition !== 'absent' && condition.status === 'True') this.#wasReady = true;
  }
}
