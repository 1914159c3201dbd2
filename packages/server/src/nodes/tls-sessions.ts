/**
 * TLS sessions of kubelets. A connection that resumes one exchanges no certificates, which saves CPU time here and on the node. The kubelet
 * was verified when the session began, so a session is resumed for a limited time, and only at the same address.
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
  /** By address; the least recently changed first. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the newest ticket of this address, if it may still be used. */
  ticket(address: string): Buffer | undefined {
    const session = this.#sessions.get(address);
    return session && this.#clock.monotonicMs() - session.verifiedMs < ageMaxMs ? session.ticket : undefined;
  }

  /** Adds a ticket of a connection. `isResumed`: the connection itself resumed a session, so no certificate was verified. */
  add(address: string, ticket: Buffer, isResumed: boolean): void {
    const verifiedMs = isResumed ? this.#sessions.get(address)?.verifiedMs : this.#clock.monotonicMs();
    if (verifiedMs === undefined) return;
    this.#sessions.delete(address);
    this.#sessions.set(address, { ticket, verifiedMs });
    if (this.#sessions.size > sessionsMax) this.#sessions.delete(this.#sessions.keys().next().value!);
  }
}
