/**
 * Runs one service of one cluster. The wanted kubeconfig, the running program and the health of both select the next step. A step ends when
 * it completes, or as soon as an event may select another one:
 *
 *                    ┌──────────── ended, or not well ─────────────▶ backOff ─┐
 *   kubeconfig ──▶ begin ──────────────▶ warmUp ──▶ watch                     │
 *        ▲           ▲  probes the cluster,           │ another kubeconfig,   │
 *        │           │  waits for a slot, stops       │ once it is settled    │
 *        │           └──the old program, starts◀──────┘◀──────────────────────┘
 *        └── none, and nothing runs
 *
 * Invariants:
 *  - at most one program: one is started only after `ended` of the previous one has resolved;
 *  - a running program is stopped only when its replacement can start: the new cluster answers, and there is a slot;
 *  - no program is started while ownership cannot be proven, nor after `stop`;
 *  - after `stop` has resolved nothing is left and nothing is reported.
 */

import { aborted, asError, backOffMs, hasCode, sleep } from '@hangar/core';
import type { Logger } from '@hangar/core';
import type { Assignment, FleetCluster, Serving } from '../../contract.ts';
import { ofService } from '../../fleet/index.ts';
import { programNames } from './arguments.ts';
import { failureOf, launch } from './child.ts';
import type { Child, Failure, LaunchOptions } from './child.ts';
import { ClusterProbe } from './cluster-probe.ts';
import { Debounce } from './debounce.ts';
import type { KubeEngineOptions } from './engine.ts';
import { Reports } from './reports.ts';
import type { Slots } from './slots.ts';
import { Telling } from './telling.ts';
import * as timings from './timings.ts';
import { nothingKnown, WantedFollower } from './wanted.ts';
import type { Target, Wanted } from './wanted.ts';
import { oneLine, seconds } from './words.ts';

export interface SupervisorOptions
  extends LaunchOptions, Pick<KubeEngineOptions, 'kubeconfigs' | 'stopGraceMs' | 'debounceMs' | 'random' | 'log'> {
  readonly slots: Slots;
  readonly assignment: Assignment;
}

/** Resolves when it completes, or rejects with `Aborted` by the signal. */
type Step = (signal: AbortSignal) => Promise<void>;
type NoTarget = Exclude<Wanted, { readonly kind: 'target' }>;

export class Supervisor implements Serving {
  readonly #options: SupervisorOptions;
  readonly #name: string;
  readonly #log: Logger;
  readonly #follower: WantedFollower;
  readonly #debounce: Debounce;
  readonly #reports: Reports;
  readonly #telling: Telling;
  readonly #cluster: ClusterProbe;
  readonly #living: Promise<void>;
  #stopped: Promise<void> | undefined;

  #wanted: Wanted = nothingKnown;
  /** The program that runs or is exiting. */
  #child: Child | undefined;
  /** Why the next start must wait. */
  #failure: Failure | undefined;
  /** Consecutive failures. */
  #failures = 0;
  #starts = 0;
  /** It keeps exiting: its starts must not delay those of others. */
  #isLooping = false;
  /** The target in use: another target counts only when it is settled. Undefined: a change takes effect at once. */
  #committed: Target | undefined;
  /** The target of the last start, also if it failed. */
  #attempted: Target | undefined;
  /** Aborts the current step. */
  #turning = new AbortController();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { assignment, clock, debounceMs, kubeconfigs } = options;
    this.#name = programNames[assignment.service];
    this.#log = options.log.child({ cluster: assignment.cluster.name, service: assignment.service });
    this.#reports = new Reports(assignment.report);
    this.#telling = new Telling(this.#name, this.#reports);
    this.#cluster = new ClusterProbe(options);
    this.#debounce = new Debounce({ clock, quietMs: debounceMs, settled: () => this.#turn() });
    this.#follower = new WantedFollower({ kubeconfigs, tell: (wanted) => this.#tell(wanted) });
    this.#telling.say('Waiting', 'KubeconfigPending', 'waiting for the kubeconfig');
    this.update(assignment.cluster);
    const { signal } = assignment.ownership;
    if (signal.aborted) void this.stop();
    else signal.addEventListener('abort', this.#onOwnershipOver, { once: true });
    this.#living = this.#live();
  }

  update(cluster: FleetCluster): void {
    if (!this.#stopped) this.#follower.update(ofService(cluster, this.#options.assignment.service));
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  readonly #onOwnershipOver = (): void => void this.stop();

  async #stop(): Promise<void> {
    this.#options.assignment.ownership.signal.removeEventListener('abort', this.#onOwnershipOver);
    this.#follower.close();
    this.#debounce.cancel();
    this.#telling.stopping();
    this.#reports.close();
    // At once, during any step.
    void this.#child?.stop(this.#graceMs());
    this.#turn();
    // Not before the constructor has returned.
    await Promise.resolve();
    await this.#living;
  }

  /* Events. */

  #tell(wanted: Wanted): void {
    const before = this.#wanted;
    this.#wanted = wanted;
    if (wanted.kind !== 'target') this.#log.warn('no usable kubeconfig', { why: wanted.message });
    else if (before !== nothingKnown) this.#log.info('the kubeconfig has changed');
    if (!this.#committed) return this.#turn();
    if (wanted.kind === 'target' && wanted.target.kubeconfig !== this.#committed.kubeconfig) this.#debounce.poke();
    else this.#debounce.cancel();
    this.#reports.notice(this.#child && wanted.kind !== 'target' ? wanted : undefined);
  }

  #turn(): void {
    this.#turning.abort();
  }

  #ended(child: Child, failure: Failure): void {
    this.#child = undefined;
    void child.health.close();
    this.#reports.process(undefined);
    if (child.isStopping) return;
    this.#fail(failure, child);
    this.#turn();
  }

  #fail(failure: Failure, child?: Child): void {
    if (this.#stopped) return;
    const wellMs = child?.readyMs === undefined ? 0 : this.#options.clock.monotonicMs() - child.readyMs;
    if (wellMs >= timings.provenAfterMs) this.#failures = 0;
    this.#failures++;
    this.#isLooping = this.#failures > 1 || wellMs === 0;
    this.#failure = failure;
    this.#reports.lastError(failure.message);
    this.#log.warn('the program failed, restarting', { why: failure.message, failures: this.#failures });
  }

  /* Steps. */

  async #live(): Promise<void> {
    while (!this.#stopped) {
      const { signal } = (this.#turning = new AbortController());
      const step = this.#next();
      try {
        await step(signal);
      } catch (error) {
        if (!signal.aborted || !hasCode(error, 'Aborted')) this.#unexpected(asError(error));
      }
    }
    await this.#child?.stop(this.#graceMs());
    await this.#cluster.close();
  }

  #next(): Step {
    const [wanted, child] = [this.#wanted, this.#child];
    this.#committed = undefined;
    this.#reports.notice(child && wanted.kind !== 'target' ? wanted : undefined);
    const failure = this.#failure;
    if (failure) return (signal) => this.#backOff(failure, signal);
    const isOther = wanted.kind === 'target' && wanted.target.kubeconfig !== child?.target.kubeconfig;
    // An unsettled change does not start a program: the end of the burst aborts the step.
    if (child && (!isOther || this.#debounce.isPending)) {
      return (signal) => (child.readyMs === undefined ? this.#warmUp(child, signal) : this.#watch(child, signal));
    }
    return wanted.kind === 'target'
      ? (signal) => this.#begin(wanted.target, signal)
      : (signal) => this.#waitForKubeconfig(wanted, signal);
  }

  async #waitForKubeconfig({ kind, reason, message }: NoTarget, signal: AbortSignal): Promise<void> {
    if (kind === 'unusable') this.#reports.lastError(message);
    this.#telling.say(kind === 'pending' ? 'Waiting' : 'Failed', reason, message);
    await aborted(signal);
  }

  async #begin(target: Target, signal: AbortSignal): Promise<void> {
    this.#debounce.cancel();
    await this.#right(signal);
    this.#telling.starting(target, this.#child !== undefined);
    await this.#answering(target, signal);
    this.#telling.starting(target, this.#child !== undefined);
    const leave = await this.#options.slots.enter(this.#isLooping, signal);
    try {
      if (signal.aborted) return;
      this.#committed = target;
      await this.#child?.stop(this.#graceMs());
      if (this.#stopped || !this.#isProven()) return;
      const child = await this.#start(target);
      if (child && !signal.aborted) await this.#warmUp(child, signal);
    } finally {
      leave();
    }
  }

  async #warmUp(child: Child, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    this.#committed = child.target;
    this.#telling.started();
    for (let asked = 1; ; asked++) {
      await sleep(clock, backOffMs(timings.warmUpBackOff, asked, random), signal);
      const complaint = await child.health.ask(signal);
      if (!complaint) break;
      if (clock.monotonicMs() - child.startedMs >= timings.unwellMaxMs) return this.#giveUp(child, complaint.message);
    }
    child.readyMs = clock.monotonicMs();
    this.#log.info('the program is ready', { pid: child.process.pid, port: child.process.port });
  }

  async #watch(child: Child, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    this.#committed = child.target;
    this.#telling.ready(child.target);
    const cluster = this.#cluster.of(child.target);
    let [strikes, unwellSinceMs]: [number, number | undefined] = [0, undefined];
    for (;;) {
      await sleep(clock, timings.nextCheckMs(random), signal);
      const [ofChild, ofCluster] = await Promise.all([child.health.ask(signal), cluster.ask(signal)]);
      const nowMs = clock.monotonicMs();
      if (nowMs - child.readyMs! >= timings.calmAfterMs) this.#calm();
      unwellSinceMs = ofChild ? (unwellSinceMs ?? nowMs) : undefined;
      if (ofChild && nowMs - unwellSinceMs! >= timings.unwellMaxMs) return this.#giveUp(child, ofChild.message);
      const complaint = ofCluster ?? ofChild;
      strikes = complaint ? strikes + 1 : 0;
      if (!complaint) this.#telling.ready(child.target);
      else if (strikes >= timings.strikesMax) this.#telling.struck(complaint, ofCluster !== undefined);
    }
  }

  async #backOff({ reason, message }: Failure, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const delayMs = backOffMs(timings.restartBackOff, this.#failures, random);
    this.#committed = this.#attempted;
    this.#telling.backingOff(reason, message, delayMs);
    try {
      await sleep(clock, delayMs, signal);
    } catch (error) {
      // Another kubeconfig: the cause of the failures may be gone.
      this.#failures = 0;
      throw error;
    } finally {
      this.#failure = undefined;
    }
  }

  /* Parts of steps. */

  /** The program has run for a while: resets the debounce and the loop detection. */
  #calm(): void {
    this.#debounce.calm();
    this.#isLooping = false;
  }

  /** Waits until the ownership of the cluster is proven. */
  async #right(signal: AbortSignal): Promise<void> {
    while (!this.#isProven()) await sleep(this.#options.clock, timings.proofRetryMs, signal);
  }

  #isProven(): boolean {
    try {
      this.#options.assignment.ownership.check();
      return true;
    } catch (error) {
      this.#telling.say('Waiting', 'OwnershipNotVerified', oneLine(asError(error).message));
      return false;
    }
  }

  /** Waits until the cluster answers. */
  async #answering(target: Target, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const probe = this.#cluster.of(target);
    for (let asked = 1; ; asked++) {
      const complaint = await probe.ask(signal);
      if (!complaint) return;
      this.#telling.unanswered(complaint, this.#child !== undefined);
      await sleep(clock, backOffMs(timings.clusterBackOff, asked, random), signal);
    }
  }

  /** Resolves with undefined if the start failed. */
  async #start(target: Target): Promise<Child | undefined> {
    this.#attempted = target;
    try {
      const child = await launch(this.#options, target);
      this.#child = child;
      void child.ended.then((end) => this.#ended(child, failureOf(this.#name, end)));
      this.#reports.process(child.process, this.#starts++);
      return child;
    } catch (error) {
      const why = oneLine(asError(error).message);
      this.#fail({ reason: 'StartFailed', message: `failed to start ${this.#name}: ${why}` });
      return undefined;
    }
  }

  /** Stops an unhealthy program and counts a failure. */
  async #giveUp(child: Child, why: string): Promise<void> {
    const message = `${this.#name} was unhealthy for ${seconds(timings.unwellMaxMs)}: ${why}`;
    this.#fail({ reason: 'Unhealthy', message: oneLine(message) }, child);
    await child.stop(this.#graceMs());
  }

  /** A stopping program never outlives the ownership of the cluster. */
  #graceMs(): number {
    const { assignment, stopGraceMs } = this.#options;
    return Math.max(0, Math.min(stopGraceMs, assignment.ownership.remainingMs() - timings.fenceMarginMs));
  }

  /** An internal error is retried with backoff, like a failure of the program. */
  #unexpected(error: Error): void {
    this.#log.error('the supervisor failed', { error });
    this.#fail({ reason: 'InternalError', message: oneLine(error.message) });
  }
}
