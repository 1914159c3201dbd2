/**
 * One life of a peer, from acquiring its lease until it leaves or loses it. Every observation is handled in one synchronous step: `#settle`
 * aligns the holdings with the ring, and the lease publishes the result to the other peers.
 */

import type { Clock, Logger, Random } from '@hangar/core';
import { Alarm } from './alarm.ts';
import type { GroupView } from './group-view.ts';
import { heldFilter } from './held-filter.ts';
import type { Holding } from './holding.ts';
import type { Holdings } from './holdings.ts';
import type { Leases } from './leases.ts';
import { proposedRing } from './membership.ts';
import type { Proposal } from './membership.ts';
import { OwnLease } from './own-lease.ts';
import type { Acknowledgement, PeerRecord, PeerState } from './peer-record.ts';
import { otherHolder } from './protocol.ts';
import type { Observer, Protocol } from './protocol.ts';
import { Reaper } from './reaper.ts';
import { RingWriter } from './ring-writer.ts';
import type { ShardTimings } from './timings.ts';
import { Validity } from './validity.ts';
import type { Moment } from './validity.ts';

export interface PeerLifeOptions {
  readonly leases: Leases;
  readonly names: { readonly ring: string; readonly lease: string };
  readonly view: GroupView;
  readonly holdings: Holdings;
  readonly protocol: Protocol;
  readonly timings: ShardTimings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger | undefined;
  readonly peer: Pick<PeerRecord, 'name' | 'weight' | 'shard' | 'selector'>;
  readonly onWrite: () => void;
  readonly onBeat: () => void;
  readonly restartWatch: () => void;
}

/** Interval at which the filter of held clusters gets a new salt. */
const saltEveryMs = 60_000;

export class PeerLife {
  readonly id: string;
  readonly #options: PeerLifeOptions;
  readonly #validity: Validity;
  readonly #ended = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #lease: OwnLease;
  readonly #ringWriter: RingWriter;
  readonly #reaper: Reaper;
  readonly #lapse: Alarm;
  readonly #settleAlarm: Alarm;
  readonly #giveUp: Alarm;
  /** Assigned by the ring, not held yet. */
  readonly #pending = new Set<Holding>();
  #state: PeerState = 'active';
  #acknowledged: Acknowledgement | undefined;
  #isLapsed = true;

  constructor(options: PeerLifeOptions) {
    const { clock, random, protocol, timings, leases, names, log, view, onWrite } = options;
    this.#options = options;
    this.id = Buffer.from(random.bytes(8)).toString('hex');
    this.#validity = new Validity(clock, protocol, timings);
    this.#lapse = new Alarm(clock, () => this.#onLapse());
    this.#settleAlarm = new Alarm(clock, () => this.#acquirePending());
    this.#giveUp = new Alarm(clock, () => this.#end());
    const observer = (): Observer => this.observer();
    const signal = this.#ended.signal;
    const rank = (): number => this.#rank();
    const common = { leases, clock, timings, log, signal, protocol, observer, onWrite, rank };
    this.#lease = new OwnLease({
      ...common,
      view,
      leaseName: names.lease,
      record: () => this.#record(),
      onRenewed: (sent, said) => this.#onRenewed(sent, said),
      onEchoMissing: options.restartWatch,
      onLost: () => this.#lose(),
    });
    this.#ringWriter = new RingWriter({
      ...common,
      random,
      ringName: names.ring,
      holder: options.peer.name,
      seen: () => view.ringObject,
      propose: () => this.#propose(),
    });
    this.#reaper = new Reaper({
      ...common,
      self: { name: options.peer.name, id: this.id },
      isAlive: () => this.#validity.remainingMs() > 0,
    });
  }

  /** Starts; resolves when this life is over: left, lost, or timed out while leaving. */
  run(): Promise<void> {
    this.#lease.want(0);
    return this.#over.promise;
  }

  observer(): Observer {
    const { view, timings, clock } = this.#options;
    return { view, timings, nowMs: clock.monotonicMs(), wallMs: clock.now() };
  }

  get remainingMs(): number {
    return this.#validity.remainingMs();
  }

  onView(): void {
    if (this.#ended.signal.aborted) return;
    this.#lease.onView();
    this.#settle();
    this.#ringWriter.onView();
    this.#reaper.onView();
  }

  onFollow(holding: Holding): void {
    this.#place(holding);
    if (this.#pending.has(holding)) this.#acquire(holding, this.observer());
  }

  /** Called when a cluster has drained. */
  onRest(): void {
    const { holdings, timings } = this.#options;
    const isAllAtRest = holdings.drainingCount === 0;
    if (this.#state === 'leaving' && isAllAtRest) this.#state = 'gone';
    if (this.#state === 'gone' && this.#isLapsed) return this.#end();
    this.#lease.want(isAllAtRest ? 0 : timings.ackBatchMs);
    // Thousands may drain at once: handled together.
    if (this.#pending.size > 0) this.#settleAlarm.within(0);
  }

  /** Leaves gracefully: leaves the ring, drains all clusters, then reports `gone`. Limited by a timeout. */
  leave(): void {
    const { holdings, timings } = this.#options;
    if (this.#state !== 'active') return;
    this.#state = 'leaving';
    this.#settleAll('this process is shutting down');
    if (!this.#lease.isOurs) return this.#end();
    this.#giveUp.within(timings.drainTimeoutMs + 2 * timings.requestTimeoutMs);
    if (holdings.drainingCount === 0) this.#state = 'gone';
    this.#lease.want(0);
    this.#ringWriter.onView();
  }

  #record(): PeerRecord {
    const { peer, holdings, timings, clock, view } = this.#options;
    const held = [...holdings.all].filter(({ state }) => state === 'held').map(({ cluster }) => cluster.hash);
    return {
      ...peer,
      id: this.id,
      state: this.#state,
      leaseMs: timings.leaseMs,
      epochMax: view.epochMax,
      draining: holdings.draining(),
      held: heldFilter(held, Math.floor(clock.monotonicMs() / saltEveryMs)),
      heldCount: held.length,
      ...(this.#acknowledged && { acknowledged: this.#acknowledged }),
    };
  }

  #onRenewed(sent: Moment, said: PeerRecord): void {
    if (said.state === 'gone') return this.#end();
    // A lapse ends all holdings, even if the lease is valid again now: writes in between were rejected.
    if (!this.#isLapsed && this.#validity.remainingMs() <= 0) this.#onLapse();
    this.#validity.renewed(sent);
    this.#options.view.regainTouch();
    this.#lapse.cancel();
    this.#lapse.within(this.#validity.remainingMs());
    if (this.#isLapsed) {
      this.#isLapsed = false;
      this.#settleAll('');
      this.#ringWriter.onView();
    }
    this.#reaper.onView();
    this.#options.onBeat();
  }

  #onLapse(): void {
    const remainingMs = this.#validity.remainingMs();
    if (remainingMs > 0) return this.#lapse.within(Math.max(1, remainingMs));
    this.#isLapsed = true;
    this.#options.view.loseTouch();
    this.#options.holdings.endAll('the lease was not renewed in time');
    this.#settleAll('');
    // The record could not be written; the other peers see the lease expire.
    if (this.#state === 'gone') this.#end();
  }

  /** Another peer has ended this life. */
  #lose(): void {
    // The watch may show the own record before the response to the write arrives.
    if (this.#state !== 'gone') {
      this.#options.log?.warn('this peer was declared dead or another process uses its name: rejoining the group');
    }
    this.#end();
  }

  #end(): void {
    if (this.#ended.signal.aborted) return;
    this.#validity.end();
    this.#ended.abort();
    this.#lapse.cancel();
    this.#settleAlarm.cancel();
    this.#giveUp.cancel();
    this.#pending.clear();
    this.#options.holdings.endAll('this process is no longer a member of the ring');
    this.#over.resolve();
  }

  #propose(): Proposal | undefined {
    const { protocol, holdings, random } = this.#options;
    if (this.#validity.remainingMs() <= 0) return undefined;
    const newRingId = (): string => Buffer.from(random.bytes(8)).toString('hex');
    return proposedRing({
      protocol,
      observer: this.observer(),
      self: this.id,
      clusters: holdings.clusters,
      newRingId,
    });
  }

  #rank(): number {
    const members = this.#options.view.ring?.members ?? [];
    const at = members.findIndex(({ id }) => id === this.id);
    return at === -1 ? members.length : at;
  }

  /** Applies the current view. */
  #settle(): void {
    const { view, holdings, timings } = this.#options;
    const { ring } = view;
    const isNews = ring && (ring.id !== this.#acknowledged?.ring || ring.epoch !== this.#acknowledged.epoch);
    if (!isNews) return this.#acquirePending();
    this.#settleAll(`another process owns it in epoch ${ring.epoch}`);
    this.#acknowledged = { ring: ring.id, epoch: ring.epoch };
    // This process holds no cluster of another member: acknowledge that, except for those that still drain.
    if (this.#lease.isOurs) this.#lease.want(holdings.drainingCount === 0 ? 0 : timings.ackBatchMs);
  }

  #settleAll(why: string): void {
    for (const holding of this.#options.holdings.all) this.#place(holding, why);
    this.#acquirePending();
  }

  /** Ends the holding if another member owns it, otherwise marks it as pending. */
  #place(holding: Holding, why = ''): void {
    if (!this.#isOurs(holding)) {
      this.#pending.delete(holding);
      this.#options.holdings.end(holding, why);
    } else if (holding.state !== 'held') this.#pending.add(holding);
  }

  #isOurs({ cluster }: Holding): boolean {
    const { view, protocol } = this.#options;
    if (this.#state !== 'active' || !view.ring || this.#validity.remainingMs() <= 0) return false;
    return protocol.ownerOf(cluster, view.ring.members)?.id === this.id;
  }

  #acquirePending(): void {
    if (this.#pending.size === 0 || this.#validity.remainingMs() <= 0) return;
    const observer = this.observer();
    for (const holding of this.#pending) this.#acquire(holding, observer);
  }

  /** Acquires the cluster unless another peer may still work on it. */
  #acquire(holding: Holding, observer: Observer): void {
    const { view, holdings, protocol } = this.#options;
    if (!holdings.all.has(holding) || holding.state === 'held') {
      this.#pending.delete(holding);
    } else if (holding.notBeforeMs > observer.nowMs) {
      this.#settleAlarm.within(holding.notBeforeMs - observer.nowMs);
    } else if (this.#mayAcquire(holding, observer)) {
      this.#pending.delete(holding);
      holding.acquire(protocol.tokenOf(view.ring!), this.#validity);
    }
  }

  #mayAcquire(holding: Holding, observer: Observer): boolean {
    const { view, holdings, protocol } = this.#options;
    if (!holdings.isAtRest(holding)) return false;
    return !otherHolder(protocol, observer, { cluster: holding.cluster, ring: view.ring!, self: this.id });
  }
}
