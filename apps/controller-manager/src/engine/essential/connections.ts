/**
 * Connections to clusters, made when something is to be done there: the kubeconfig is read from its Secret, used while there is work,
 * and dropped when there was none for a while. So a cluster in which nothing happens costs neither a connection nor its kubeconfig.
 *
 *     taken ──▶ read, opened ──▶ in use ──▶ idle ──▶ 30 s, or another one needs the place: closed
 *
 * There are so many places and no more: who finds none waits for one.
 */

import { orAborted } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { openConnection } from './open-connection.ts';
import type { Connection, OpenOptions, Place } from './open-connection.ts';

/** Whom a connection is for. */
export interface Target {
  readonly cluster: Place;
  /** Its connection is closed: what was made for it can go. */
  onClosed(): void;
}

/** A place that is taken. */
export interface Lease {
  readonly connection: Connection;
  /** Idempotent. */
  release(): void;
}

interface Entry {
  readonly target: Target;
  opening: Promise<Connection>;
  users: number;
  usedMs: number;
}

export const connectionsMax = 64;
const idleMs = 30_000;
/** A user that has not let go by then has forgotten to. */
const forgottenMs = 120_000;

export class Connections {
  readonly #options: OpenOptions;
  /** The one that was used last is last. */
  readonly #entries = new Map<Target, Entry>();
  readonly #waiting = new Set<() => void>();
  #sweep: Timer | undefined;

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Rejects with an `EssentialError`, with what became of reading the Secret, or when the signal fires. */
  async take(target: Target, signal: AbortSignal | undefined): Promise<Lease> {
    let entry = this.#entries.get(target);
    while (!entry && !this.#makeRoom()) {
      await this.#room(signal);
      entry = this.#entries.get(target);
    }
    if (!entry) {
      entry = { target, opening: openConnection(target.cluster, this.#options), users: 0, usedMs: 0 };
      this.#entries.set(target, entry);
    }
    const taken = entry;
    taken.users++;
    this.#touch(taken);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      taken.users--;
      this.#touch(taken);
      this.#tellWaiting();
    };
    try {
      return { connection: await orAborted(taken.opening, signal), release };
    } catch (error) {
      // The next one reads anew.
      if (!signal?.aborted) this.#delete(taken);
      release();
      throw error;
    }
  }

  /** The server does not accept these credentials. True: there are others now. */
  async renewed(target: Target, refused: Connection, signal: AbortSignal | undefined): Promise<boolean> {
    const entry = this.#entries.get(target);
    if (!entry) return true;
    const current = await orAborted(entry.opening, signal);
    if (current !== refused) return true;
    const next = await orAborted(openConnection(target.cluster, this.#options), signal);
    if (next.kubeconfig === refused.kubeconfig) return false;
    if (this.#entries.get(target) === entry) entry.opening = Promise.resolve(next);
    void refused.transport.close();
    return true;
  }

  /** What it was made of is another now, or nobody needs it any more. What is under way there is broken off. */
  drop(target: Target): void {
    const entry = this.#entries.get(target);
    if (entry) this.#delete(entry);
  }

  close(): void {
    for (const entry of this.#entries.values()) this.#delete(entry);
    this.#sweep?.cancel();
  }

  /** Is there a place for one more? */
  #makeRoom(): boolean {
    if (this.#entries.size < connectionsMax) return true;
    const idle = this.#entries.values().find(({ users }) => users === 0);
    if (idle) this.#delete(idle);
    return idle !== undefined;
  }

  async #room(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } finally {
      this.#waiting.delete(resolve);
      // Who was told and left has told nobody else.
      if (signal?.aborted) this.#tellWaiting();
    }
  }

  #tellWaiting(): void {
    if (this.#waiting.size === 0) return;
    if (this.#entries.size >= connectionsMax && this.#entries.values().every(({ users }) => users > 0)) return;
    const [first] = this.#waiting;
    this.#waiting.delete(first!);
    first!();
  }

  #touch(entry: Entry): void {
    const { clock } = this.#options;
    entry.usedMs = clock.monotonicMs();
    if (this.#entries.get(entry.target) !== entry) return;
    this.#entries.delete(entry.target);
    this.#entries.set(entry.target, entry);
    this.#sweep ??= clock.after(idleMs, () => this.#sweepIdle());
  }

  #sweepIdle(): void {
    const { clock } = this.#options;
    this.#sweep = undefined;
    const nowMs = clock.monotonicMs();
    for (const entry of this.#entries.values()) {
      if (nowMs - entry.usedMs >= (entry.users === 0 ? idleMs : forgottenMs)) this.#delete(entry);
    }
    if (this.#entries.size > 0) this.#sweep = clock.after(idleMs, () => this.#sweepIdle());
  }

  #delete(entry: Entry): void {
    if (this.#entries.get(entry.target) !== entry) return;
    this.#entries.delete(entry.target);
    entry.target.onClosed();
    void entry.opening.then(
      ({ transport }) => transport.close(),
      () => undefined,
    );
    this.#tellWaiting();
  }
}
