/**
 * Elects one of several processes: the holder of a Lease. Timings and Lease are compatible with client-go, so that processes written in
 * Go can take part in the same election.
 *
 *   campaign ── a try each 2…4.4 s ──► lead(ownership) ── renewed each 2 s ──► lead returns ──► released
 *                                          └── not renewed for 10 s: the signal of the ownership is aborted
 *
 * At most one process leads at a time, as long as the rates of the clocks differ by less than lease duration : renew deadline (15 : 10);
 * the offsets of the clocks do not matter. A clock that stops, for example while a machine sleeps, is not covered: a program that needs
 * certainty must write through a fence that the server checks.
 *
 * Coordinated leader election (LeaseCandidates) is not supported; it is for the components of the control plane.
 */

import { asError, hasCode, sleep, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { bounded } from '../bounded.ts';
import type { Bound } from '../bounded.ts';
import { RuntimeError } from '../errors.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Ownership } from '../clusters/contract.ts';
import { newIdentity } from './identity.ts';
import { Leadership } from './leadership.ts';
import { LeaseLock } from './lease-lock.ts';
import type { LeaseClient, Try } from './lease-lock.ts';
import { electionMetrics } from './metrics.ts';
import type { ElectionMetrics } from './metrics.ts';

/** Options of the leader election of a manager. */
export interface LeaderElectionOptions {
  /** Namespace of the Lease. */
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Identity of the holder. Absent: `host_uuid`, unique for each elector. */
  readonly identity?: string;
  /** Time that other processes wait after the last observed renewal. Absent: 15 s. */
  readonly leaseDurationMs?: number;
  /** Time that the leader continues without a renewal. Absent: 10 s. */
  readonly renewDeadlineMs?: number;
  /** Time between two attempts. Absent: 2 s. */
  readonly retryPeriodMs?: number;
  /** Releases the Lease when the leader stops, so that the next leader does not wait for its expiration. Absent: true. */
  readonly releaseOnCancel?: boolean;
}

/** Options of `LeaderElector`. */
export interface LeaderElectorOptions extends LeaderElectionOptions {
  /** Must read from the server, not from a cache. */
  readonly client: LeaseClient;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger | undefined;
  readonly metrics?: MetricsRegistry | undefined;
  /** Called with the identity of each new leader, including this process; '' when there is no leader. */
  readonly onNewLeader?: (identity: string) => void;
}

const jitterFactor = 1.2;
const releaseTriesMax = 3;

type Held = Extract<Try, { readonly isHeld: true }>;

/** Takes part in an election. `Manager` creates one from its option `leaderElection`. */
export class LeaderElector {
  readonly identity: string;
  readonly #options: Required<Omit<LeaderElectorOptions, 'log' | 'metrics' | 'onNewLeader' | 'identity'>>;
  readonly #log: Logger | undefined;
  readonly #metrics: ElectionMetrics;
  readonly #onNewLeader: ((identity: string) => void) | undefined;
  readonly #lock: LeaseLock;
  #reported: string | undefined;
  #leadership: Leadership | undefined;

  /** Throws `InvalidOptions` when the timings are not safe. */
  constructor({ log, metrics, onNewLeader, identity, ...options }: LeaderElectorOptions) {
    const withDefaults = {
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      releaseOnCancel: true,
      clock: systemClock,
      random: systemRandom,
      ...options,
    };
    requireSafe(withDefaults);
    this.#options = withDefaults;
    this.identity = identity ?? newIdentity(withDefaults.random);
    this.#log = log?.child({ lease: `${options.namespace}/${options.name}`, identity: this.identity });
    this.#metrics = electionMetrics(metrics, options.name);
    this.#onNewLeader = onNewLeader;
    const onSlowPath = () => this.#metrics.slowPath();
    this.#lock = new LeaseLock({ ...withDefaults, identity: this.identity, onSlowPath });
  }

  /** True while this process is certainly the leader. */
  get isLeader(): boolean {
    return (this.#leadership?.remainingMs() ?? 0) > 0;
  }

  /** Identity of the last observed leader; '' if there is none or the Lease was not read yet. */
  get leader(): string {
    return this.#lock.holder;
  }

  /**
   * Campaigns until elected, then calls `lead` once. `lead` should return when the signal of its ownership is aborted. The Lease is
   * renewed until `lead` returns and then released, unless `lead` returns false because some work still runs.
   *
   * Resolves after `lead`, or when the signal is aborted before the election. Rejects with `LeadershipLost` or with the error of `lead`.
   * Can be called again after it settled, but not concurrently.
   */
  async run(signal: AbortSignal, lead: (ownership: Ownership) => Promise<boolean | void>): Promise<void> {
    const held = await this.#campaign(signal);
    if (!held) return;
    const { clock, renewDeadlineMs, name } = this.#options;
    const over = new AbortController();
    const leadership = new Leadership({
      name,
      clock,
      renewDeadlineMs,
      token: held.transitions,
      sentAtMs: held.sentAtMs,
      onLost: () => over.abort(),
    });
    const onAbort = () => leadership.stop(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#leadership = leadership;
    this.#metrics.leads(true);
    this.#log?.info('leading');
    const renewing = this.#renew(leadership, over.signal);
    let hasEnded = true;
    try {
      hasEnded = (await lead(leadership)) !== false;
    } finally {
      signal.removeEventListener('abort', onAbort);
      over.abort();
      await renewing;
      await this.#end(leadership, hasEnded);
    }
    if (leadership.lost) throw leadership.lost;
  }

  async #end(leadership: Leadership, hasEnded: boolean): Promise<void> {
    const isOurs = leadership.remainingMs() > 0 && hasEnded;
    leadership.close();
    this.#leadership = undefined;
    this.#metrics.leads(false);
    this.#log?.info('stopped leading');
    if (isOurs && this.#options.releaseOnCancel) await this.#release();
  }

  /** Resolves with undefined when the signal is aborted before the election. */
  async #campaign(signal: AbortSignal): Promise<Held | undefined> {
    const { clock, random, retryPeriodMs, releaseOnCancel } = this.#options;
    this.#log?.info('attempting to acquire the leader lease');
    while (!signal.aborted) {
      const tried = await this.#try(false, signal);
      if (tried?.isHeld && !signal.aborted) return tried;
      const jitterMs = retryPeriodMs * jitterFactor * random.fraction();
      await sleep(clock, retryPeriodMs + jitterMs, signal).catch(() => {});
    }
    // The last write may have been accepted without a response: release the Lease, so that other processes do not wait for its expiration.
    const mayHold = this.#lock.hasUnansweredWrite || this.#lock.holder === this.identity;
    if (mayHold && releaseOnCancel) await this.#release();
    return undefined;
  }

  async #renew(leadership: Leadership, over: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    while (!over.aborted) {
      await sleep(clock, retryPeriodMs, over).catch(() => {});
      const tried = over.aborted ? undefined : await this.#try(true, over);
      if (!tried) continue;
      if (tried.isHeld) leadership.prolong(tried.sentAtMs);
      else if (tried.holder !== '' && tried.holder !== this.identity) leadership.lose(`it is held by ${tried.holder}`);
    }
  }

  /** Resolves with undefined when the attempt failed. Bounded in time. */
  async #try(isLeading: boolean, signal: AbortSignal): Promise<Try | undefined> {
    try {
      const tried = await bounded(this.#bound(signal), (request) => this.#lock.tryHold(isLeading, request));
      this.#report();
      return tried;
    } catch (error) {
      if (!signal.aborted) this.#log?.warn('failed to acquire or renew the lease', { error: asError(error) });
      return undefined;
    }
  }

  /** Failures are logged only, because the lease expires in any case. */
  async #release(): Promise<void> {
    for (let tries = 0; tries < releaseTriesMax; tries++) {
      try {
        await bounded(this.#bound(), (request) => this.#lock.release(request));
        this.#report();
        return;
      } catch (error) {
        if (hasCode(error, 'Conflict')) continue;
        this.#log?.warn('failed to release the lease; it has to expire', { error: asError(error) });
        return;
      }
    }
  }

  #bound(signal?: AbortSignal): Bound {
    const { clock, renewDeadlineMs } = this.#options;
    return { clock, timeoutMs: renewDeadlineMs / 2, signal };
  }

  #report(): void {
    const { holder } = this.#lock;
    if (holder === this.#reported) return;
    this.#reported = holder;
    try {
      this.#onNewLeader?.(holder);
    } catch (error) {
      this.#log?.error('onNewLeader threw', { error: asError(error) });
    }
  }
}

type Timings = Required<Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>>;

function requireSafe({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Timings): void {
  const refuse = (rule: string) => new RuntimeError('InvalidOptions', `leader election: ${rule}`);
  if (!(retryPeriodMs > 0)) throw refuse('retryPeriodMs must be positive');
  if (!(renewDeadlineMs > retryPeriodMs * jitterFactor)) {
    throw refuse(`renewDeadlineMs must be more than ${jitterFactor} times retryPeriodMs`);
  }
  if (!(leaseDurationMs > renewDeadlineMs)) throw refuse('leaseDurationMs must be more than renewDeadlineMs');
}
