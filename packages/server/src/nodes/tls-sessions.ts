/**
 * TLS sessions of kubelets. A connection that resumes one exchanges no certificates, which saves CPU time here and on the node. The kubelet
 * was verified when the session began, so a session is resumed for a limited time, and only at the same address with the same fingerprint.
 */

import type { Clock } from '@hangar/core';

const ageMaxMs = 10 * 60_000;
/** The users of a control plane choose the number of its nodes. */
const sessionsMax = 64;

interface Session {
  readonly ticket: Buffer;
  /** When the certificate of the kubelet was verified. */
  readonly verifiedMs: number;
}

export class TlsSessions {
  readonly #clock: Clock;
  /** By address and fingerprint; the least recently changed first. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the newest ticket of this key, if it may still be used. */
  ticket(key: string): Buffer | undefined {
    const session = this.#sessions.get(key);
    return session && this.#clock.monotonicMs() - session.verifiedMs < ageMaxMs ? session.ticket : undefined;
  }

  /** Adds a ticket of a connection. `isResumed`: the connection itself resumed a session, so no certificate was verified. */
  add(key: string, ticket: Buffer, isResumed: boolean): void {
    const verifiedMs = isResumed ? this.#sessions.get(key)?.verifiedMs : this.#clock.monotonicMs();
    if (verifiedMs === undefined) return;
    this.#sessions.delete(key);
    this.#sessions.set(key, { ticket, verifiedMs });
    if (this.#sessions.size > sessionsMax) this.#sessions.delete(this.#sessions.keys().next().value!);
  }
}
