/**
 * One Lease and its observed state. An attempt either holds it (its own write was accepted) or returns the holder.
 *
 * Clocks of different machines are never compared: the lease of another process expires relative to the time at which this process first
 * observed its newest content; the own lease relative to the time before its last renewal was sent, which is earlier than any process can
 * have observed it.
 *
 * Writes carry the observed resourceVersion, so that a late write of an aborted attempt does not overwrite the write of another process. An
 * aborted attempt does not change this state either, regardless of when its responses arrive.
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
  /** Called when the holder had to read the lease before the renewal. */
  readonly onSlowPath: () => void;
}

export type Try =
  | { readonly isHeld: true; readonly sentAtMs: number; readonly transitions: number }
  | { readonly isHeld: false; readonly holder: string };

interface Seen {
  readonly lease: Lease;
  /** The content that identifies a renewal. */
  readonly content: string;
  /** Local time at which this content was first observed. */
  readonly sinceMs: number;
}

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  #seen: Seen | undefined;
  #hasUnansweredWrite = false;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Last observed holder; '': none. */
  get holder(): string {
    return this.#seen?.lease.spec?.holderIdentity ?? '';
  }

  /** True if the result of a write is unknown: the lease may be held. */
  get hasUnansweredWrite(): boolean {
    return this.#hasUnansweredWrite;
  }

  /** `isLeading`: the known version is probably current, so that one request is enough. */
  async tryHold(isLeading: boolean, signal: AbortSignal): Promise<Try> {
    if (isLeading && this.#seen && this.holder === this.#options.identity) {
      const held = await this.#write(this.#seen.lease, signal);
      if (held) return held;
      this.#options.onSlowPath();
    }
    const lease = await this.#read(signal);
    // Includes a deleted lease: its holder has not noticed yet.
    if (this.#isAnothers()) return this.#notHeld();
    return (await (lease ? this.#write(lease, signal) : this.#create(signal))) ?? this.#notHeld();
  }

  /** Releases the lease if this identity holds it. Rejects with the error of the request; `Conflict`: the lease was changed, retry. */
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

  /** Returns undefined if another process was faster, which is not an error. */
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

/** Excludes the resourceVersion: a label change does not count as a renewal. */
const contentOf = ({
  holderIdentity,
  leaseDurationSeconds,
  acquireTime,
  renewTime,
  leaseTransitions,
}: LeaseSpec = {}) => JSON.stringify([holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions]);
