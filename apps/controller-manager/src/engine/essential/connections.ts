/**
 * Connections to clusters, opened on demand: the kubeconfig is read from its Secret, used while there is work, and dropped when it was idle
 * for a while. So an idle cluster costs neither a connection nor its kubeconfig.
 *
 *     taken ──▶ read, opened ──▶ in use ──▶ idle ──▶ 30 s, or another one needs the place: closed
 *                    ▲               │
 *                    └───────────────┘ refused, or not read for 60 s: read again; another kubeconfig is another connection
 *
 * Requests in flight on a replaced connection complete. So credentials that were removed from a Secret are used for at most a minute, and
 * the Secrets need no watch.
 *
 * The number of connections is limited: further callers wait.
 */

import { orAborted } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { openConnection } from './open-connection.ts';
import type { Connection, OpenOptions, Whom } from './open-connection.ts';

/** The cluster that a connection is for. */
export interface Target extends Whom {
  /** Called when its connection is closed: resources made for it can be released. */
  onClosed(): void;
}

/** A connection in use. */
export interface Lease {
  readonly connection: Connection;
  /** Idempotent. */
  release(): void;
}

interface Entry {
  readonly target: Target;
  readonly opening: Promise<Connection>;
  /** Shared by concurrent callers. */
  renewing?: Promise<void> | undefined;
  users: number;
  usedMs: number;
  /** When its Secret was last read, also if that failed. */
  readMs: number;
}

export const connectionsMax = 64;
const idleMs = 30_000;
const rereadMs = 60_000;
/** A connection that is not released by then was leaked. */
const forgottenMs = 120_000;

export class Connections {
  readonly #options: OpenOptions;
  /** Least recently used first. */
  readonly #entries = new Map<Target, Entry>();
  /** Replaced, and still in use. */
  readonly #retired = new Set<Entry>();
  readonly #waiting = new Set<() => void>();
  #sweep: Timer | undefined;

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Rejects with an `EssentialError`, with the error of reading the Secret, or when the signal fires. */
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
      // The next caller reads the Secret again.
      if (!signal?.aborted) this.#delete(taken);
      release();
      throw error;
    }
  }

  /** Called when the server rejected the credentials. Resolves with true if there are new ones. */
  async renewed(target: Target, refused: Connection, signal: AbortSignal | undefined): Promise<boolean> {
    const entry = this.#entries.get(target);
    if (!entry || (await orAborted(entry.opening, signal)) !== refused) return true;
    if (this.#entries.get(target) === entry) await orAborted(this.#renew(entry), signal);
    return this.#entries.get(target) !== entry;
  }

  /** Closes the connection, because its target changed or is no longer used. Aborts requests in flight. */
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

  /** A Secret that is deleted or cannot be read does not affect open connections. */
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

  /** Reports whether there is room for one more; closes an idle connection if necessary. */
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
      // A caller that was notified and aborted passes the notification on.
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
