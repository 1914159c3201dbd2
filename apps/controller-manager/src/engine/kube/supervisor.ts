/**
 * One service of one cluster. What is wanted (a kubeconfig), what is there (a program) and how both do decide which step is next;
 * a step is over when it has come to its end, or as soon as something happens that may make another one the next:
 *
 *                    ┌──────────── ended, or not well ─────────────▶ backOff ─┐
 *   kubeconfig ──▶ begin ──────────────▶ warmUp ──▶ watch                     │
 *        ▲           ▲  asks the cluster,             │ another kubeconfig,   │
 *        │           │  waits for a slot, ends        │ once it is settled    │
 *        │           └──what ran before, starts◀──────┘◀──────────────────────┘
 *        └── none, and nothing runs
 *
 * Invariants:
 *  - at most one program: one is started only after `ended` of the one before has resolved;
 *  - what runs is not ended before what is to replace it could be started: the new cluster answers, and there is a slot;
 *  - nothing is started while the right to the cluster cannot be proven, nor after `stop`;
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

/** Ends when it has come to its end, or with `Aborted` by the signal. */
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
  /** What runs, or has not quite gone. */
  #child: Child | undefined;
  /** Why it has to be waited before the next start. */
  #failure: Failure | undefined;
  /** In a row. */
  #failures = 0;
  #starts = 0;
  /** It keeps ending: its starts are not to delay those of others. */
  #isLooping = false;
  /** What was decided on: another target counts only when it is settled. Undefined: nothing would be lost by it. */
  #committed: Target | undefined;
  /** What was started last, or could not be. */
  #attempted: Target | undefined;
  /** Ends the step. */
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
    // At once, whatever step is under way.
    void this.#child?.stop(this.#graceMs());
    this.#turn();
    // Not before the constructor has come to its end.
    await Promise.resolve();
    await this.#living;
  }

  /* What happens. */

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

  /* The steps. */

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
    // What is not settled yet is not begun: the burst's end is a turn.
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
      // Another kubeconfig: what was wrong may not be any more.
      this.#failures = 0;
      throw error;
    } finally {
      this.#failure = undefined;
    }
  }

  /* Parts of steps. */

  /** It was not started for nothing. */
  #calm(): void {
    this.#debounce.calm();
    this.#isLooping = false;
  }

  /** Waits until the cluster is this replica's beyond doubt. */
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

  /** Undefined: it could not be. */
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

  /** It runs and is of no use. */
  async #giveUp(child: Child, why: string): Promise<void> {
    const message = `${this.#name} was unhealthy for ${seconds(timings.unwellMaxMs)}: ${why}`;
    this.#fail({ reason: 'Unhealthy', message: oneLine(message) }, child);
    await child.stop(this.#graceMs());
  }

  /** What is being stopped never outlives the right to the cluster. */
  #graceMs(): number {
    const { assignment, stopGraceMs } = this.#options;
    return Math.max(0, Math.min(stopGraceMs, assignment.ownership.remainingMs() - timings.fenceMarginMs));
  }

  /** A fault of ours is no reason to leave the cluster alone, nor to be busy with it. */
  #unexpected(error: Error): void {
    this.#log.error('the supervisor failed', { error });
    this.#fail({ reason: 'InternalError', message: oneLine(error.message) });
  }
}
