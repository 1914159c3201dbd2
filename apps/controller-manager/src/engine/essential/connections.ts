/**
 * Connections to clusters, made when something is to be done there: the kubeconfig is read from its Secret, used while there is work,
 * and dropped when there was none for a while. So a cluster in which nothing happens costs neither a connection nor its kubeconfig.
 *
 *     taken ──▶ read, opened ──▶ in use ──▶ idle ──▶ 30 s, or another one needs the place: closed
 *                    ▲               │
 *                    └───────────────┘ refused, or not read for 60 s: read anew; another kubeconfig is another connection
 *
 * Of one that is replaced, what is under way comes to its end. So credentials that were taken out of a Secret are used for a minute at most,
 * and no watch of each Secret is needed.
 *
 * There are so many places and no more: who finds none waits for one.
 */

import { orAborted } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { openConnection } from './open-connection.ts';
import type { Connection, OpenOptions, Whom } from './open-connection.ts';

/** Whom a connection is for. */
export interface Target extends Whom {
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
  readonly opening: Promise<Connection>;
  /** By all who ask for it at the same time. */
  renewing?: Promise<void> | undefined;
  users: number;
  usedMs: number;
  /** When its Secret was read last, also in vain. */
  readMs: number;
}

export const connectionsMax = 64;
const idleMs = 30_000;
const rereadMs = 60_000;
/** A user that has not let go by then has forgotten to. */
const forgottenMs = 120_000;

export class Connections {
  readonly #options: OpenOptions;
  /** The one that was used last is last. */
  readonly #entries = new Map<Target, Entry>();
  /** Replaced, and not yet let go of by all. */
  readonly #retired = new Set<Entry>();
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
    await this.#refresh(target, signal);
    let entry = this.#entries.get(target);
    while (!entry && !this.#makeRoom()) {
      await this.#room(signal);
      entry = this.#entries.get(target);
    }
    if (!entry) {
      entry = this.#entryOf(target, openConnection(target, this.#options));
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
      if (taken.users === 0 && this.#retired.delete(taken)) closed(taken);
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
    if (!entry || (await orAborted(entry.opening, signal)) !== refused) return true;
    if (this.#entries.get(target) === entry) await orAborted(this.#renew(entry), signal);
    return this.#entries.get(target) !== entry;
  }

  /** What it was made of is another now, or nobody needs it any more. What is under way there is broken off. */
  drop(target: Target): void {
    const entry = this.#entries.get(target);
    if (entry) this.#delete(entry);
    this.#breakOff((one) => one.target === target);
  }

  close(): void {
    for (const entry of this.#entries.values()) this.#delete(entry);
    this.#breakOff(() => true);
    this.#sweep?.cancel();
  }

  #entryOf(target: Target, opening: Promise<Connection>): Entry {
    return { target, opening, users: 0, usedMs: 0, readMs: this.#options.clock.monotonicMs() };
  }

  /** A Secret that cannot be read, or is gone, changes nothing for what is open. */
  async #refresh(target: Target, signal: AbortSignal | undefined): Promise<void> {
    const entry = this.#entries.get(target);
    if (!entry || this.#options.clock.monotonicMs() - entry.readMs < rereadMs) return;
    const reading = this.#renew(entry).catch(() => undefined);
    await orAborted(reading, signal);
  }

  #renew(entry: Entry): Promise<void> {
    entry.readMs = this.#options.clock.monotonicMs();
    entry.renewing ??= this.#replace(entry).finally(() => (entry.renewing = undefined));
    return entry.renewing;
  }

  async #replace(entry: Entry): Promise<void> {
    const { target } = entry;
    const current = await entry.opening;
    const next = await openConnection(target, this.#options);
    if (next.kubeconfig === current.kubeconfig || this.#entries.get(target) !== entry) {
      void next.transport.close();
      return;
    }
    const replacement = this.#entryOf(target, Promise.resolve(next));
    this.#entries.set(target, replacement);
    this.#touch(replacement);
    if (entry.users > 0) this.#retired.add(entry);
    else closed(entry);
    this.#tellWaiting();
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
    this.#breakOff(({ usedMs }) => nowMs - usedMs >= forgottenMs);
    if (this.#entries.size + this.#retired.size > 0) this.#sweep = clock.after(idleMs, () => this.#sweepIdle());
  }

  #delete(entry: Entry): void {
    if (this.#entries.get(entry.target) !== entry) return;
    this.#entries.delete(entry.target);
    entry.target.onClosed();
    closed(entry);
    this.#tellWaiting();
  }

  #breakOff(which: (retired: Entry) => boolean): void {
    for (const entry of this.#retired) {
      if (which(entry) && this.#retired.delete(entry)) closed(entry);
    }
  }
}

function closed({ opening }: Entry): void {
  void opening.then(
    ({ transport }) => transport.close(),
    () => undefined,
  );
}
