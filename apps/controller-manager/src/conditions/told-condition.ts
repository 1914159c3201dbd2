/**
 * One condition of one object: what it should say, what it says, and when it may be written next. Pure bookkeeping: `ConditionWriter`
 * does the rest.
 */

import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { Timer } from '@hangar/core';
import type { Service, SourceObject } from '../contract.ts';
import { isSameCondition } from './condition-of.ts';
import type { WantedCondition } from './condition-of.ts';

/** Between two writes of one condition, or after it was read first: who flaps is written of now and then. */
const pauseMs = 5_000;
/** Of one that somebody else takes away again and again. */
const repairPauseMs = 1_000;

/** `absent`: there should be none. */
export type Wanted = WantedCondition | 'absent';

export class ToldCondition {
  readonly source: SourceObject;
  readonly service: Service;
  wanted: Wanted;
  /** What the server has: `absent` when it has none, undefined when it has to be asked. */
  known: Condition | 'absent' | undefined;
  /** In a row. */
  failures = 0;
  /** Of what waits to be looked at. */
  timer: Timer | undefined;
  /** While it is looked at. */
  work: { readonly ending: AbortController; readonly done: Promise<void> } | undefined;
  /** Those who wait until something is there. */
  readonly waiting = new Set<() => void>();
  /** Told of a refusal, while somebody waits. */
  onRefused: ((why: string) => void) | undefined;
  /** Why it may not be written, since it was tried last. */
  refusal: string | undefined;
  /** Since when there was no write, by the monotonic clock. */
  #quietSinceMs: number | undefined;
  #isThere = false;
  #wasReady = false;

  constructor(source: SourceObject, service: Service, wanted: Wanted) {
    this.source = source;
    this.service = service;
    this.wanted = wanted;
  }

  /** A condition, whatever it says, is at the object; or that was tried often enough. */
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

  /** Somebody else asks anew. */
  begin(): void {
    this.#isThere = false;
  }

  /** As it should be, as far as one knows. */
  get isDone(): boolean {
    if (this.known === undefined) return false;
    if (this.wanted === 'absent' || this.known === 'absent') return this.wanted === this.known;
    return isSameCondition(this.wanted, this.known);
  }

  /** How long to wait until it may be looked at. What comes first does so at once, and so does the first that is good news. */
  delayMs(nowMs: number): number {
    if (this.known === undefined || this.wanted === 'absent' || this.#quietSinceMs === undefined) return 0;
    if (this.wanted.status === 'True' && !this.#wasReady) return 0;
    return Math.max(0, this.#quietSinceMs + (this.known === 'absent' ? repairPauseMs : pauseMs) - nowMs);
  }

  /** What was there before anything was written here is as good as just written: what is told of it may pass. */
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
