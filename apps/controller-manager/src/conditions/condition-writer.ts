/**
 * Tells in the management plane how services do: `ControllersReady` and `SchedulerReady` of the objects that ask for them.
 *
 * - What is written is what was told last. Nothing is written when nothing is another, which is asked before the first write: also a
 *   process that begins anew writes nothing where nothing changed meanwhile.
 * - One condition is written at most every few seconds, but the first one, the first that is `True`, and its removal at once.
 * - A condition that somebody else removes or changes is put right when it is seen (`observe`): while it is missing, others take the
 *   cluster for free.
 * - A condition that another controller manager wrote, or that expired because this one did not renew its Leases (`ControllerManagerLost`),
 *   counts as missing: it is written before anything starts.
 * - A few requests at a time; those that fail are repeated, later each time. An object that is gone is forgotten.
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
 * Nobody waits longer for a management plane that is away: that must not keep clusters from being served. One that refuses is another
 * matter: without the condition others take the cluster for free.
 */
const writtenMs = 5_000;
const writtenFailuresMax = 3;
const problemsMax = 100;

export class ConditionWriter {
  readonly #options: ConditionWriterOptions;
  readonly #managed: ManagedConditions;
  readonly #entries = new Map<string, ToldCondition>();
  /** To be looked at now. */
  readonly #due = new Set<ToldCondition>();
  readonly #working = new Set<ToldCondition>();
  /** What was said in the log, until something worked. */
  readonly #problems = new Set<string>();
  #isRunning = false;
  #isOver = false;

  constructor(options: ConditionWriterOptions) {
    this.#options = options;
    this.#managed = new ManagedConditions(options);
  }

  /** The last one counts. Never throws. */
  tell(source: SourceObject, service: Service, state: ServiceState): void {
    this.#want(source, service, conditionOf(service, state));
  }

  /** Nobody asks for the service any more. */
  remove(source: SourceObject, service: Service): void {
    this.#want(source, service, 'absent');
  }

  /** A condition is there, whatever it says; or nobody could be asked for a while. Never rejects. */
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

  /** Somebody else tells of it from now on: nothing is written here after what this resolves with, and what is there stays. */
  async forget(source: SourceObject, service: Service): Promise<void> {
    const entry = this.#entries.get(keyOf(source.uid, service));
    if (!entry) return;
    this.#drop(entry);
    await entry.work?.done;
  }

  /** An object as it was seen: when its conditions are not what was written, as when somebody has removed one, the server is asked. */
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

  /** Until the signal; what is not written by then stays unwritten. Never rejects. Once. */
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
    // What failed waits for its time, whatever is told meanwhile.
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

  /** One step: ask what is there, or write. */
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
    // What a process before this one had no time to remove.
    for (const other of services) {
      const isKnown = this.#entries.has(keyOf(source.uid, other));
      if (!isKnown && !object.services.has(other) && found(other)) this.remove(source, other);
    }
  }

  #isOurs({ controllerManager }: ObjectConditions): boolean {
    return isDeepStrictEqual(controllerManager, this.#options.controllerManager);
  }

  /** It is at another object, which has the name now: whoever tells of that one writes anew, else it goes. */
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
    // Each once: a management plane that is away is away for all of them. By its code: messages name the object.
    const problem = String((error as { code?: unknown }).code ?? error.message);
    if (!this.#problems.has(problem)) {
      log.warn('failed to write a condition, retrying', { [kind]: name, service: entry.service, error });
      if (this.#problems.size < problemsMax) this.#problems.add(problem);
    }
    // Whether it was done is not known.
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

/** It was understood, and will be the same again until somebody changes something. */
const isRefusal = (error: Error): boolean =>
  ['Forbidden', 'Invalid', 'BadRequest'].some((code) => hasCode(error, code));

const keyOf = (uid: string, service: Service): string => `${uid}/${service}`;
