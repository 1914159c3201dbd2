/**
 * The lease of this peer: acquired under its name, renewed at every interval and at once on changes, released at the end. Each write is
 * conditional on the previous version, so that a renewal and a declaration of death exclude each other: one of them is rejected.
 */

import { hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { Alarm } from './alarm.ts';
import { bounded } from '../../bounded.ts';
import type { GroupView } from './group-view.ts';
import { recordAnnotation } from './leases.ts';
import type { LeaseDraft, Leases } from './leases.ts';
import { leaseSpec } from './lease-spec.ts';
import { decodeRecord, encodeRecord } from './peer-record.ts';
import type { PeerRecord } from './peer-record.ts';
import type { Observer, Protocol } from './protocol.ts';
import type { ShardTimings } from './timings.ts';
import { momentOf } from './validity.ts';
import type { Moment } from './validity.ts';

export interface OwnLeaseOptions {
  readonly leases: Leases;
  readonly leaseName: string;
  readonly view: GroupView;
  readonly protocol: Protocol;
  readonly timings: ShardTimings;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly signal: AbortSignal;
  readonly observer: () => Observer;
  /** Returns the current record. */
  readonly record: () => PeerRecord;
  readonly onWrite: () => void;
  /** Called when the record was written; `sent`: the time before the request. */
  readonly onRenewed: (sent: Moment, said: PeerRecord) => void;
  /** Called when the watch did not show a recent write: the watch is dead. */
  readonly onEchoMissing: () => void;
  /** Called when another process has the lease, or it was deleted: this life is over. */
  readonly onLost: () => void;
}

const retryMs = 250;
const retryAfterConflictMs = 20;
/** A watch that does not show a write within this time is dead. */
const echoMs = 1_000;

export class OwnLease {
  readonly #options: OwnLeaseOptions;
  readonly #alarm: Alarm;
  readonly #echo: Alarm;
  readonly #id: string;
  readonly #name: string;
  /** Version of the last confirmed write; undefined: the lease is not acquired yet. */
  #resourceVersion: string | undefined;
  #isSeen = false;
  #isBusy = false;
  #isWantedAgain = false;
  #isWaitingTold = false;

  constructor(options: OwnLeaseOptions) {
    this.#options = options;
    ({ id: this.#id, name: this.#name } = options.record());
    this.#alarm = new Alarm(options.clock, () => void this.#write());
    this.#echo = new Alarm(options.clock, () => this.#expectEcho());
    const onAbort = (): void => {
      this.#alarm.cancel();
      this.#echo.cancel();
    };
    options.signal.addEventListener('abort', onAbort, { once: true });
  }

  get isOurs(): boolean {
    return this.#resourceVersion !== undefined;
  }

  /** Schedules a write within this time. */
  want(inMs: number): void {
    if (!this.#options.signal.aborted) this.#alarm.within(inMs);
  }

  onView(): void {
    const peer = this.#options.view.peers.get(this.#name);
    const isThere = peer?.record.id === this.#id && peer.record.state !== 'gone';
    if (isThere) this.#isSeen = true;
    else if (this.#isSeen) this.#lose();
    if (!this.isOurs) this.want(0);
  }

  async #write(): Promise<void> {
    if (this.#isBusy) {
      this.#isWantedAgain = true;
      return;
    }
    const draft = this.#draft();
    if (!draft) return;
    const { clock, timings, signal, leases, record, onWrite, onRenewed } = this.#options;
    this.#isBusy = true;
    const said = record();
    const sent = momentOf(clock);
    onWrite();
    try {
      const spec = leaseSpec({ holder: `${this.#name}_${this.#id}`, leaseMs: timings.leaseMs, wallMs: clock.now() });
      const annotations = { [recordAnnotation]: encodeRecord(said) };
      const bound = { clock, timeoutMs: timings.requestTimeoutMs, signal };
      const written = await bounded(bound, (signal) => leases.write({ ...draft, annotations, spec }, signal));
      this.#resourceVersion = written.metadata.resourceVersion ?? '';
      this.#echo.cancel();
      this.#echo.within(echoMs);
      this.want(timings.renewEveryMs);
      onRenewed(sent, said);
    } catch (error) {
      await this.#failed(error);
    } finally {
      this.#isBusy = false;
      if (this.#isWantedAgain) this.want(0);
      this.#isWantedAgain = false;
    }
  }

  /** Precondition of the next write; undefined while another process holds the name. */
  #draft(): Pick<LeaseDraft, 'name' | 'resourceVersion'> | undefined {
    const { leaseName, view, observer, protocol } = this.#options;
    if (this.#resourceVersion !== undefined) return { name: leaseName, resourceVersion: this.#resourceVersion };
    if (!view.isListed) return undefined;
    const former = view.peers.get(this.#name);
    if (!former) return this.#mayCreate() ? { name: leaseName } : undefined;
    const { resourceVersion, record } = former;
    if (record.id === this.#id || protocol.mayTakeName(former, observer())) return { name: leaseName, resourceVersion };
    this.#waitForName(record.leaseMs);
    return undefined;
  }

  /** A former life of this name in the ring may still run without a lease that a user deleted, for up to the lease duration. */
  #mayCreate(): boolean {
    const { view, timings } = this.#options;
    const { ring } = view;
    const isKnown = [ring, ...(ring?.history ?? [])].some((entry) =>
      entry?.members.some(({ name, id }) => name === this.#name && id !== this.#id),
    );
    if (!isKnown || view.absentMs(this.#name) >= timings.leaseMs) return true;
    this.#waitForName(timings.leaseMs);
    return false;
  }

  #waitForName(leaseMs: number): void {
    if (!this.#isWaitingTold) {
      this.#options.log?.info('the lease of this peer is held by a previous process: waiting until it expires', {
        peer: this.#name,
      });
    }
    this.#isWaitingTold = true;
    this.want(leaseMs / 10);
  }

  #expectEcho(): void {
    const { view, onEchoMissing } = this.#options;
    if (view.peers.get(this.#name)?.resourceVersion !== this.#resourceVersion) onEchoMissing();
  }

  async #failed(error: unknown): Promise<void> {
    const { signal, log, leases, leaseName, clock, timings } = this.#options;
    if (signal.aborted) return;
    const isRefused = hasCode(error, 'Conflict') || hasCode(error, 'NotFound') || hasCode(error, 'AlreadyExists');
    if (!isRefused) log?.warn('failed to renew the lease', { peer: this.#name, error });
    // Before the lease is acquired, the view shows its holder.
    if (!isRefused || this.#resourceVersion === undefined) return this.want(retryMs);
    try {
      // An earlier write may have succeeded without an answer, or another peer has ended this life.
      const bound = { clock, timeoutMs: timings.requestTimeoutMs, signal };
      const lease = await bounded(bound, (signal) => leases.get(leaseName, signal));
      const record = decodeRecord(lease.metadata.annotations?.[recordAnnotation], this.#name);
      if (record && (record.id !== this.#id || record.state === 'gone')) return this.#lose();
      this.#resourceVersion = lease.metadata.resourceVersion ?? '';
      this.want(retryAfterConflictMs);
    } catch (error) {
      if (hasCode(error, 'NotFound')) return this.#lose();
      this.want(retryMs);
    }
  }

  #lose(): void {
    if (!this.#options.signal.aborted) this.#options.onLost();
  }
}
