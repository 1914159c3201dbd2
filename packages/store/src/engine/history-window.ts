/**
 * Decides how much history is kept: everything younger than `ageMs`, but never more than `revisionsMax`. A hold keeps older history for a
 * reader, up to `heldHistoryMsMax` and `heldHistoryBytesMax`. It checks after writes only: an idle store sets no timer.
 */

import type { Clock, Timer } from '@hangar/core';
import type { HistoryHold, Revision } from '../contract.ts';

export interface HistoryPolicy {
  ageMs: number;
  revisionsMax: number;
}

/** etcd under Kubernetes keeps five minutes. */
export const defaultHistory: HistoryPolicy = { ageMs: 5 * 60_000, revisionsMax: 1_000_000 };

/** History that is older is not held. */
export const heldHistoryMsMax = 30 * 60_000;
/** A hold has no effect on history before the last writes of this size: a tenant must not fill the disk while a reader is slow. */
export const heldHistoryBytesMax = 1024 ** 3;
const holdersMax = 64;

const looksPerWindow = 10;

export interface HistoryWindowOptions {
  clock: Clock;
  policy: HistoryPolicy;
  /** Must not reject. */
  compact(revision: Revision): Promise<void>;
  /** Gaps in the history of earlier processes. */
  gaps?: readonly Gap[];
}

/** Skipped revisions before `end`. */
export interface Gap {
  readonly end: Revision;
  readonly length: number;
}

const probesPerWindow = 20;
const probesMax = 1_000;

/**
 * Finds the gaps after the compacted revision that are long enough to matter, by probes of the history: one for each twentieth of the window.
 * `firstFrom` returns the first written revision that is not before the given one.
 */
export function findGaps(
  { compacted, newest }: { compacted: Revision; newest: Revision },
  { revisionsMax }: HistoryPolicy,
  firstFrom: (revision: Revision) => Revision | undefined,
): Gap[] {
  const step = Math.max(1, Math.ceil(revisionsMax / probesPerWindow));
  const gaps: Gap[] = [];
  let at = compacted + 1;
  for (let probes = 0; at <= newest && probes < probesMax; probes++) {
    const end = firstFrom(at as Revision);
    if (end === undefined) break;
    if (end - at >= step) gaps.push({ end, length: end - at });
    at = Math.max(at, end) + step;
  }
  return gaps;
}

export class HistoryWindow {
  readonly #options: HistoryWindowOptions;
  /** Revisions with the time at which they were current, and the bytes that were written until then; oldest first. */
  readonly #samples: { atMs: number; revision: Revision; bytes: number }[] = [];
  /** Written by this process. */
  #bytes = 0;
  readonly #holds = new Map<string, { readonly revision: Revision; readonly endMs: number }>();
  #newest = 0 as Revision;
  #compacted = 0 as Revision;
  /** Skipped revisions that are not compacted; oldest first. They are not history, and do not count. */
  #gaps: readonly Gap[];
  #timer: Timer | undefined;

  constructor(options: HistoryWindowOptions) {
    this.#options = options;
    this.#gaps = options.gaps ?? [];
  }

  /** Called after every commit, with the number of revisions skipped before this one, and the size of its keys and values. */
  advanced(revision: Revision, { skipped = 0, bytes = 0 } = {}): void {
    this.#newest = revision;
    this.#bytes += bytes;
    if (skipped > 0) this.#gaps = [...this.#gaps, { end: revision, length: skipped }];
    if (!this.#timer) this.#lookLater();
    const skippedInAll = this.#gaps.reduce((sum, { length }) => sum + length, 0);
    if (revision - this.#compacted - skippedInAll > this.#options.policy.revisionsMax * 1.1) this.#compactTo(revision);
  }

  /** More holders than `holdersMax` are ignored. */
  hold({ holder, revision, ttlMs }: HistoryHold): void {
    if (this.#holds.size >= holdersMax && !this.#holds.has(holder)) return;
    this.#holds.set(holder, { revision, endMs: this.#options.clock.monotonicMs() + ttlMs });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #lookLater(): void {
    const { clock, policy } = this.#options;
    this.#timer = clock.after(policy.ageMs / looksPerWindow, () => this.#look());
  }

  #look(): void {
    const { clock, policy } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#timer = undefined;
    if (this.#samples.at(-1)?.revision !== this.#newest)
      this.#samples.push({ atMs: nowMs, revision: this.#newest, bytes: this.#bytes });
    const held = this.#heldRevision(nowMs);
    const heldMs = Math.max(policy.ageMs, heldHistoryMsMax);
    let old: Revision | undefined;
    for (let [first] = this.#samples; first; [first] = this.#samples) {
      const isHeld = first.revision > held && this.#bytes - first.bytes <= heldHistoryBytesMax;
      if (nowMs - first.atMs < (isHeld ? heldMs : policy.ageMs)) break;
      old = this.#samples.shift()!.revision;
    }
    if (old !== undefined && old > this.#compacted) this.#compact(old);
    if (this.#samples.length > 0) this.#lookLater();
  }

  /** Returns the lowest revision after which history is held. */
  #heldRevision(nowMs: number): number {
    let held = Infinity;
    for (const [holder, { revision, endMs }] of this.#holds) {
      if (endMs <= nowMs) this.#holds.delete(holder);
      else held = Math.min(held, revision);
    }
    return held;
  }

  #compactTo(newest: Revision): void {
    let kept = newest - this.#options.policy.revisionsMax;
    for (const { end, length } of this.#gaps.toReversed()) if (end > kept) kept -= length;
    this.#compact(kept as Revision);
  }

  #compact(revision: Revision): void {
    if (revision <= this.#compacted) return;
    this.#compacted = revision;
    this.#gaps = this.#gaps
      .filter(({ end }) => end > revision)
      .map(({ end, length }) => ({ end, length: Math.min(length, end - revision) }));
    void this.#options.compact(revision);
  }
}
