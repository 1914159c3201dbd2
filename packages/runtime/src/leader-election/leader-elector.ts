/**
 * One of several processes works: whoever holds the Lease. The timings and the Lease itself are client-go's, so that processes
 * written in Go can contend for the same one.
 *
 *   campaign ── a try each 2…4.4 s ──► lead(ownership) ── renewed each 2 s ──► lead has ended ──► released
 *                                          └── not renewed for 10 s: the ownership's signal fires, whatever hangs
 *
 * At most one leads at a time as long as the clocks' speeds differ by less than lease duration : renew deadline (15 : 10); their
 * offsets do not matter. What a clock cannot measure (a machine that slept with its clock stopped) nobody can measure by it: who
 * must be sure writes through a fence that the server checks.
 *
 * Not done: coordinated leader election (LeaseCandidates), which is a matter of the control plane's own components.
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

export interface LeaderElectionOptions {
  readonly namespace: string;
  readonly name: string;
  /** Absent: `host_uuid`, another one for every elector. */
  readonly identity?: string;
  /** For how long others wait after the last renewal that they saw. */
  readonly leaseDurationMs?: number;
  /** For how long the leader goes on without one. */
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  /** Absent: yes. What was led has ended by then, so that the next one need not wait for the lease to run out. */
  readonly releaseOnCancel?: boolean;
}

export interface LeaderElectorOptions extends LeaderElectionOptions {
  /** Must ask the server, not a cache. */
  readonly client: LeaseClient;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger | undefined;
  readonly metrics?: MetricsRegistry | undefined;
  /** Whoever leads now, also this one; '' when nobody does. */
  readonly onNewLeader?: (identity: string) => void;
}

const jitterFactor = 1.2;
const releaseTriesMax = 3;

type Held = Extract<Try, { readonly isHeld: true }>;

export class LeaderElector {
  readonly identity: string;
  readonly #options: Required<Omit<LeaderElectorOptions, 'log' | 'metrics' | 'onNewLeader' | 'identity'>>;
  readonly #log: Logger | undefined;
  readonly #metrics: ElectionMetrics;
  readonly #onNewLeader: ((identity: string) => void) | undefined;
  readonly #lock: LeaseLock;
  #reported: string | undefined;
  #leadership: Leadership | undefined;

  /** Throws `InvalidOptions` when the timings could not be safe. */
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

  /** For certain, at this moment. */
  get isLeader(): boolean {
    return (this.#leadership?.remainingMs() ?? 0) > 0;
  }

  /** Whoever held the lease when it was last seen; '': nobody, or not seen yet. */
  get leader(): string {
    return this.#lock.holder;
  }

  /**
   * Contends until the signal, then leads: `lead` is called once, and should end when the signal of what it is given fires. The
   * lease is renewed until it has ended, then released, unless it says by false that something of it goes on after all. Resolves then, or when the signal fired before; rejects with
   * `LeadershipLost`, also after `lead` has ended, or with what `lead` rejected with. Not twice at a time; again is fine.
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

  /** Undefined when the signal came first. */
  async #campaign(signal: AbortSignal): Promise<Held | undefined> {
    const { clock, random, retryPeriodMs, releaseOnCancel } = this.#options;
    this.#log?.info('attempting to acquire the leader lease');
    while (!signal.aborted) {
      const tried = await this.#try(false, signal);
      if (tried?.isHeld && !signal.aborted) return tried;
      const jitterMs = retryPeriodMs * jitterFactor * random.fraction();
      await sleep(clock, retryPeriodMs + jitterMs, signal).catch(() => {});
    }
    // The last write may have been accepted without anybody knowing: nobody should have to wait for that to run out.
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

  /** Undefined when it failed: the next one may not. Bounded, whatever hangs. */
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

  /** Not being able to is no failure: the lease runs out by itself. */
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
