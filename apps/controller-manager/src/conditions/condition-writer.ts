/**
 * Writes the state of services to the management plane: `ControllersReady` and `SchedulerReady` of the objects that request them.
 *
 * - Writes the last reported state. Writes nothing if it is unchanged, and reads the object before the first write: a restarted process
 *   also writes nothing if nothing changed.
 * - Writes a condition at most every few seconds, except the first one, the first that is `True`, and its removal.
 * - Restores a condition that another client removed or changed when it is observed (`observe`): while it is missing, others consider the
 *   cluster unowned.
 * - A condition that another controller manager wrote, or that expired because this one did not renew its Leases (`ControllerManagerLost`),
 *   counts as missing: it is written before a service starts.
 * - Sends a few requests at a time, and retries failed ones with backoff. Forgets deleted objects.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Client } from '@hangar/client';
import { aborted, asError, backOffMs, hasCode } from '@hangar/core';
import type { BackOff, Clock, Logger, Random } from '@hangar/core';
import { controllerManagerLost } from '@hangar/runtime/clusters';
import type { ControllerManagerReference } from '@hangar/runtime/clusters';
import { services } from '../contract.ts';
import type { Service, ServiceState, SourceObject } from '../contract.ts';
import { conditionAfter, conditionOf, conditionTypes, isSameCondition } from './condition-of.ts';
import { conditionsOf, ManagedConditions } from './object-conditions.ts';
import type { ObjectConditions } from './object-conditions.ts';
import { ToldCondition } from './told-condition.ts';
import type { Wanted } from './told-condition.ts';

export interface ConditionWriterOptions {
  /** Not closed here. */
  readonly management: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The Leases that prove that this process runs. Absent: it renews none. */
  readonly controllerManager?: ControllerManagerReference | undefined;
}

const concurrencyMax = 4;
const backOff: BackOff = { baseMs: 500, maxMs: 60_000 };
/**
 * Maximum wait for an unavailable management plane: it must not keep clusters from being served. A refusal is waited for: without the
 * condition others consider the cluster unowned.
 */
const writtenMs = 5_000;
const writtenFailuresMax = 3;
const problemsMax = 100;

export class ConditionWriter {
  readonly #options: ConditionWriterOptions;
  readonly #managed: ManagedConditions;
  readonly #entries = new Map<string, ToldCondition>();
  /** Conditions to process now. */
  readonly #due = new Set<ToldCondition>();
  readonly #working = new Set<ToldCondition>();
  /** Problems that were logged, until a request succeeds. */
  readonly #problems = new Set<string>();
  #isRunning = false;
  #isOver = false;

  constructor(options: ConditionWriterOptions) {
    this.#options = options;
    this.#managed = new ManagedConditions(options);
  }

  /** The last state wins. Never throws. */
  tell(source: SourceObject, service: Service, state: ServiceState): void {
    this.#want(source, service, conditionOf(service, state));
  }

  /** Removes the condition: the service is no longer requested. */
  remove(source: SourceObject, service: Service): void {
    this.#want(source, service, 'absent');
  }

  /** Resolves when the condition exists, with any status, or when the management plane was unavailable for a while. Never rejects. */
  async written(source: SourceObject, service: Service, onRefused: (why: string) => void = () => {}): Promise<void> {
    const entry = this.#entries.get(keyOf(source.uid, service));
    if (!entry || entry.isThere || this.#isOver) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.clock.after(writtenMs, () => {
      if (entry.refusal === undefined) resolve();
    });
    entry.onRefused = onRefused;
    entry.waiting.add(resolve);
    await promise;
    timer.cancel();
    entry.waiting.delete(resolve);
  }

  /** Hands the condition over: nothing is written here after the promise resolves, and the condition stays. */
  async forget(source: SourceObject, service: Service): Promise<void> {
    const entry = this.#entries.get(keyOf(source.uid, service));
    if (!entry) return;
    this.#drop(entry);
    await entry.work?.done;
  }

  /**
   * Called with an observed object: when its conditions are not the written ones, as after a removal by another client, the object is read.
   */
  observe(object: ApiObject): void {
    for (const service of services) {
      const entry = this.#entries.get(keyOf(object.metadata.uid ?? '', service));
      if (!entry || entry.work || entry.known === undefined || entry.wanted === 'absent') continue;
      const seen = conditionsOf(object).conditions.find(({ type }) => type === conditionTypes[service]);
      if (entry.known === 'absent' ? !seen : isSameCondition(entry.known, seen)) continue;
      entry.known = undefined;
      this.#schedule(entry);
    }
  }

  /** Runs until the signal; pending conditions are not written. Never rejects. Called once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    this.#go();
    await aborted(signal);
    this.#isRunning = false;
    this.#isOver = true;
    for (const entry of this.#entries.values()) this.#drop(entry);
    await Promise.all(Array.from(this.#working, ({ work }) => work?.done));
  }

  #want(source: SourceObject, service: Service, wanted: Wanted): void {
    if (this.#isOver) return;
    const key = keyOf(source.uid, service);
    let entry = this.#entries.get(key);
    if (!entry) this.#entries.set(key, (entry = new ToldCondition(source, service, wanted)));
    else if (entry.wanted === 'absent' && wanted !== 'absent') entry.begin();
    entry.wanted = wanted;
    this.#schedule(entry);
  }

  #schedule(entry: ToldCondition): void {
    if (entry.work) return;
    if (entry.isDone) return this.#done(entry);
    // A failed write waits for its backoff, also if a new state is reported.
    if (entry.failures > 0 && entry.timer) return;
    this.#lookAfter(entry, entry.delayMs(this.#options.clock.monotonicMs()));
  }

  #done(entry: ToldCondition): void {
    entry.timer?.cancel();
    entry.timer = undefined;
    this.#due.delete(entry);
    if (entry.wanted === 'absent') this.#drop(entry);
    else entry.isThereNow();
  }

  #lookAfter(entry: ToldCondition, delayMs: number): void {
    entry.timer?.cancel();
    entry.timer = undefined;
    const look = (): void => {
      entry.timer = undefined;
      this.#due.add(entry);
      this.#go();
    };
    if (delayMs === 0) look();
    else entry.timer = this.#options.clock.after(delayMs, look);
  }

  #go(): void {
    if (!this.#isRunning) return;
    for (const entry of this.#due) {
      if (this.#working.size >= concurrencyMax) return;
      this.#due.delete(entry);
      this.#work(entry);
    }
  }

  #work(entry: ToldCondition): void {
    const ending = new AbortController();
    entry.work = { ending, done: this.#attempt(entry, ending.signal).then(() => this.#ended(entry)) };
    this.#working.add(entry);
  }

  #ended(entry: ToldCondition): void {
    entry.work = undefined;
    this.#working.delete(entry);
    if (this.#has(entry)) this.#schedule(entry);
    this.#go();
  }

  async #attempt(entry: ToldCondition, signal: AbortSignal): Promise<void> {
    try {
      await this.#look(entry, signal);
      if (entry.failures > 0 && entry.isDone) this.#worked(entry);
    } catch (thrown) {
      if (!signal.aborted) this.#failed(entry, asError(thrown));
    }
  }

  /** One step: read the object, or write. */
  async #look(entry: ToldCondition, signal: AbortSignal): Promise<void> {
    const { source, service, wanted, known } = entry;
    const { clock } = this.#options;
    if (wanted === 'absent') {
      await this.#managed.remove(source, service, signal);
      return entry.wrote('absent', clock.monotonicMs());
    }
    if (known === undefined) return this.#read(entry, signal);
    const condition = conditionAfter(known === 'absent' ? undefined : known, wanted, clock);
    const uid = await this.#managed.apply(source, service, condition, signal);
    if (uid !== source.uid) return this.#wentAstray(entry, uid);
    entry.wrote(condition, clock.monotonicMs());
    entry.isThereNow();
  }

  async #read(entry: ToldCondition, signal: AbortSignal): Promise<void> {
    const { source, service } = entry;
    const object = await this.#managed.read(source, signal);
    if (!object) return this.#drop(entry);
    const found = (one: Service) => object.conditions.find(({ type }) => type === conditionTypes[one]);
    const condition = this.#isOurs(object) ? found(service) : undefined;
    const isExpired = condition?.reason === controllerManagerLost;
    entry.read(isExpired ? undefined : condition, this.#options.clock.monotonicMs());
    // Removes a condition that an earlier process did not remove.
    for (const other of services) {
      const isKnown = this.#entries.has(keyOf(source.uid, other));
      if (!isKnown && !object.services.has(other) && found(other)) this.remove(source, other);
    }
  }

  #isOurs({ controllerManager }: ObjectConditions): boolean {
    return isDeepStrictEqual(controllerManager, this.#options.controllerManager);
  }

  /** The condition was written to another object of the same name: it is written again if that object has a reporter, else removed. */
  #wentAstray(entry: ToldCondition, uid: string): void {
    const { source, service } = entry;
    this.#drop(entry);
    const other = this.#entries.get(keyOf(uid, service));
    if (!other) return this.remove({ ...source, uid }, service);
    other.known = undefined;
    this.#schedule(other);
  }

  #failed(entry: ToldCondition, error: Error): void {
    if (hasCode(error, 'NotFound')) return this.#drop(entry);
    const { random, log } = this.#options;
    const { kind, name } = entry.source;
    // Logged once per code: an unavailable management plane affects all conditions, and messages name the object.
    const problem = String((error as { code?: unknown }).code ?? error.message);
    if (!this.#problems.has(problem)) {
      log.warn('failed to write a condition, retrying', { [kind]: name, service: entry.service, error });
      if (this.#problems.size < problemsMax) this.#problems.add(problem);
    }
    // The outcome is unknown.
    entry.known = undefined;
    entry.failures++;
    if (isRefusal(error)) entry.refused(`failed to write the condition: ${error.message}`);
    else if (entry.failures >= writtenFailuresMax) entry.isThereNow();
    this.#lookAfter(entry, backOffMs(backOff, entry.failures, random));
  }

  #worked(entry: ToldCondition): void {
    entry.failures = 0;
    if (this.#problems.size > 0) this.#options.log.info('conditions can be written again');
    this.#problems.clear();
  }

  #drop(entry: ToldCondition): void {
    if (this.#has(entry)) this.#entries.delete(keyOf(entry.source.uid, entry.service));
    entry.timer?.cancel();
    this.#due.delete(entry);
    entry.work?.ending.abort();
    entry.isThereNow();
  }

  #has(entry: ToldCondition): boolean {
    return this.#entries.get(keyOf(entry.source.uid, entry.service)) === entry;
  }
}

/** Reports whether the error is permanent until the object or the permissions change. */
const isRefusal = (error: Error): boolean =>
  ['Forbidden', 'Invalid', 'BadRequest'].some((code) => hasCode(error, code));

const keyOf = (uid: string, service: Service): string => `${uid}/${service}`;
