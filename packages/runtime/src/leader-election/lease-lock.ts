/**
 * One Lease, and what is known of it here. A try either holds it (its own write was accepted) or tells who does.
 *
 * Two clocks never meet: that another's lease has run out is measured from when this process first saw its newest content; that
 * the own one has not, from before the write that renewed it was sent, which is earlier than anybody can have seen it.
 *
 * Writes carry the resourceVersion of what was seen, so that a write that was given up and arrives late changes nothing that
 * somebody else wrote meanwhile. A try whose signal has fired changes nothing here either, whenever its answers come.
 */

import type { Client } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import type { LeaseSpec } from '@hangar/client/kinds/coordination-v1';
import { abortError, hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { firstSpec, heldSpec, releasedSpec } from './lease.ts';

/** The part of a client that leader election uses. */
export type LeaseClient = Pick<Client, 'get' | 'create' | 'update'>;

export interface LeaseLockOptions {
  readonly client: LeaseClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
  /** The holder had to read the lease before it could renew it. */
  readonly onSlowPath: () => void;
}

export type Try =
  | { readonly isHeld: true; readonly sentAtMs: number; readonly transitions: number }
  | { readonly isHeld: false; readonly holder: string };

interface Seen {
  readonly lease: Lease;
  /** The content by which a renewal is recognised. */
  readonly content: string;
  /** When this content was first seen, by the own clock. */
  readonly sinceMs: number;
}

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  #seen: Seen | undefined;
  #hasUnansweredWrite = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** As last seen; '': nobody. */
  get holder(): string {
    return this.#seen?.lease.spec?.holderIdentity ?? '';
  }

  /** A write was sent of which nobody knows what became: the lease may be held without anybody knowing. */
  get hasUnansweredWrite(): boolean {
    return this.#hasUnansweredWrite;
  }

  /** `isLeading`: what is known is probably the newest, so that one request is enough. */
  async tryHold(isLeading: boolean, signal: AbortSignal): Promise<Try> {
    if (isLeading && this.#seen && this.holder === this.#options.identity) {
      const held = await this.#write(this.#seen.lease, signal);
      if (held) return held;
      this.#options.onSlowPath();
    }
    const lease = await this.#read(signal);
    // Also one that was deleted: whoever held it does not know yet.
    if (this.#isAnothers()) return this.#notHeld();
    return (await (lease ? this.#write(lease, signal) : this.#create(signal))) ?? this.#notHeld();
  }

  /** Gives it back if it is held by this identity. Rejects as requests do; `Conflict`: somebody wrote it, look again. */
  async release(signal: AbortSignal): Promise<void> {
    const { client, identity, clock } = this.#options;
    const lease = await this.#read(signal);
    if (lease?.spec?.holderIdentity !== identity) return;
    const released = await client.update(Lease, { ...lease, spec: releasedSpec(lease.spec, clock) }, { signal });
    this.#observe(released, signal);
    this.#hasUnansweredWrite = false;
  }

  #notHeld(): Try {
    return { isHeld: false, holder: this.holder };
  }

  #isAnothers(): boolean {
    const { identity, leaseDurationMs, clock } = this.#options;
    if (!this.#seen) return false;
    const { lease, sinceMs } = this.#seen;
    const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {};
    if (holderIdentity === '' || holderIdentity === identity) return false;
    const durationMs = leaseDurationSeconds === undefined ? leaseDurationMs : leaseDurationSeconds * 1000;
    return clock.monotonicMs() < sinceMs + durationMs;
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      const lease = await client.get(Lease, { namespace, name }, { signal });
      this.#observe(lease, signal);
      return lease;
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
      if (signal.aborted) throw abortError(signal);
      return undefined;
    }
  }

  #create(signal: AbortSignal): Promise<Try | undefined> {
    const { client, namespace, name, clock } = this.#options;
    const before = this.#seen?.lease.spec;
    const spec = before ? heldSpec(before, this.#options, clock) : firstSpec(this.#options, clock);
    const send = () => client.create(Lease, { metadata: { namespace, name }, spec }, { signal });
    return this.#sent(signal, send, 'AlreadyExists');
  }

  #write(lease: Lease, signal: AbortSignal): Promise<Try | undefined> {
    const { client, clock } = this.#options;
    const spec = heldSpec(lease.spec ?? {}, this.#options, clock);
    return this.#sent(signal, () => client.update(Lease, { ...lease, spec }, { signal }), 'NotFound');
  }

  /** Undefined when somebody else was faster, which is no error. */
  async #sent(
    signal: AbortSignal,
    send: () => Promise<Lease>,
    tooLate: 'AlreadyExists' | 'NotFound',
  ): Promise<Try | undefined> {
    const sentAtMs = this.#options.clock.monotonicMs();
    this.#hasUnansweredWrite = true;
    try {
      const lease = await send();
      this.#observe(lease, signal);
      this.#hasUnansweredWrite = false;
      return { isHeld: true, sentAtMs, transitions: lease.spec?.leaseTransitions ?? 0 };
    } catch (error) {
      if (!hasCode(error, 'Conflict') && !hasCode(error, tooLate)) throw error;
      if (signal.aborted) throw abortError(signal);
      this.#hasUnansweredWrite = false;
      return undefined;
    }
  }

  #observe(lease: Lease, signal: AbortSignal): void {
    if (signal.aborted) throw abortError(signal);
    const content = contentOf(lease.spec);
    const isNews = this.#seen?.content !== content;
    this.#seen = { lease, content, sinceMs: isNews ? this.#options.clock.monotonicMs() : this.#seen!.sinceMs };
  }
}

/** Not the resourceVersion: a label that somebody sets is no sign of life. */
const contentOf = ({
  holderIdentity,
  leaseDurationSeconds,
  acquireTime,
  renewTime,
  leaseTransitions,
}: LeaseSpec = {}) => JSON.stringify([holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions]);
