/**
 * Takes care of the etcd cluster of every control plane, outside of the reconciler: observes it, runs at most one action at a time, and
 * enqueues the control plane when the result matters to it.
 *
 *     track ─► schedule ─► observe ─► losses ─► plan ─► one action ─► report ─► enqueue, if it changed
 *
 * A running etcd does not report its state to the management cluster, so it is polled. The cost is bounded: each control plane once a minute,
 * and at most ten rounds a second for all of them together, so 1,000 control planes are observed every 100 seconds. A healthy cluster costs
 * connections to its members and no request to the management cluster. A component that is not available is a hint: controllers exit when
 * they cannot renew their leases. Clusters that cannot be reached are polled less and less often.
 */

import { asError, hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ClusterEvents, RawSource, SourceContext } from '@hangar/runtime';
import { HostedControlPlane } from '../api/index.ts';
import type { EtcdMetrics } from '../metrics/etcd-metrics.ts';
import { Schedule } from '../schedule.ts';
import { eventOf } from './events.ts';
import { healthOf } from './health.ts';
import type { EtcdHealth } from './health.ts';
import { confirmedLosses, followLosses } from './losses.ts';
import type { Losses, LossTimes } from './losses.ts';
import { isCalm } from './observation.ts';
import type { EtcdObservation } from './observation.ts';
import { planNext } from './plan.ts';
import type { EtcdTarget, OpenSession } from './session.ts';
import { figuresOf } from './space/figures.ts';
import { planSpace, spaceOf } from './space/plan-space.ts';
import type { SpaceAction } from './space/plan-space.ts';
import { SpaceRecord } from './space/space-record.ts';

const periodMs = 60_000;
/** While there is an alarm: its end is reported soon. */
const alarmPeriodMs = 10_000;
/** While members change or are missing, and after a hint. */
const changePeriodMs = 5_000;
/** After an action. */
const actionPeriodMs = 1_000;
/** While a member joins or catches up. */
const joinPeriodMs = 2_000;
const periodMaxMs = 600_000;
const spacingMs = 100;
const concurrentMax = 8;
/** Actions that can take minutes leave rounds for other control planes. */
const longActionsMax = 4;

/** A size that differs less than this from the published one is not published. */
const changeBytesMin = 16 * 2 ** 20;
const changeShareMin = 0.05;

export interface EtcdTimes {
  /** Time between two observations of a cluster without changes. Absent: a minute. */
  readonly periodMs?: number | undefined;
  readonly lossTimes?: LossTimes | undefined;
}

export interface EtcdCareOptions extends EtcdTimes {
  readonly clock: Clock;
  readonly open: OpenSession;
  readonly events: Pick<ClusterEvents, 'event'>;
  readonly metrics: Pick<EtcdMetrics, 'observe' | 'remove' | 'defragmented' | 'recovered'>;
}

/** The object to enqueue. */
export interface TrackedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Tracked {
  readonly object: TrackedObject;
  /** Aborted when the object is forgotten, so that a round in progress runs no action. */
  readonly ending: AbortController;
  target: EtcdTarget;
  failures: number;
  losses: Losses;
  readonly space: SpaceRecord;
  /** The action that rewrites databases. */
  running?: Promise<unknown> | undefined;
  health: EtcdHealth | 'pending' | undefined;
}

export class EtcdCare {
  readonly #options: EtcdCareOptions;
  /** By namespace and name. */
  readonly #tracked = new Map<string, Tracked>();
  readonly #schedule: Schedule;
  #context: SourceContext | undefined;
  #longActions = 0;

  constructor(options: EtcdCareOptions) {
    this.#options = options;
    const work = (id: string, signal: AbortSignal): Promise<number> => this.#round(id, signal);
    this.#schedule = new Schedule({ clock: options.clock, concurrency: concurrentMax, spacingMs, work });
  }

  /** Starts to take care of the etcd of an object. Returns the published result: `pending` before the first one, undefined if it failed. */
  track(object: TrackedObject, target: EtcdTarget): EtcdHealth | 'pending' | undefined {
    const id = idOf(object);
    const known = this.#tracked.get(id);
    if (known?.object.uid === object.uid) {
      known.target = target;
      return known.health;
    }
    known?.ending.abort();
    const ending = new AbortController();
    const space = new SpaceRecord(this.#options.clock);
    this.#tracked.set(id, { object, ending, target, failures: 0, losses: new Map(), space, health: 'pending' });
    this.#schedule.remove(id);
    this.#schedule.add(id);
    return 'pending';
  }

  /** Observes soon: something else indicates a problem or a change. */
  hint(object: ObjectName): void {
    const id = idOf(object);
    this.#schedule.hasten(id, hintPeriodMs(this.#tracked.get(id)));
  }

  /** Returns the published result of a tracked object. */
  healthOf(object: ObjectName): EtcdHealth | undefined {
    const health = this.#tracked.get(idOf(object))?.health;
    return typeof health === 'object' ? health : undefined;
  }

  /**
   * Prevents defragmentations while a backup reads from a member: both would block the member. Resolves when the running one has ended.
   * The caller must call the result when it has finished.
   */
  async hold(object: ObjectName): Promise<() => void> {
    const one = this.#tracked.get(idOf(object));
    if (!one) return () => {};
    const release = one.space.hold();
    await one.running;
    return release;
  }

  forget(object: ObjectName): void {
    const id = idOf(object);
    this.#options.metrics.remove(object);
    this.#tracked.get(id)?.ending.abort();
    this.#tracked.delete(id);
    this.#schedule.remove(id);
  }

  /** Runs the rounds. A source of the controller, so only the leader acts. */
  readonly source: RawSource = async (context, signal) => {
    this.#context = context;
    await this.#schedule.run(signal);
  };

  /** Returns the time until the next round. */
  async #round(id: string, end: AbortSignal): Promise<number> {
    const one = this.#tracked.get(id);
    if (!one) return periodMs;
    const signal = AbortSignal.any([end, one.ending.signal]);
    const { client, apiReader } = this.#context!.cluster;
    const session = this.#options.open(one.target, { client, apiReader, signal });
    let observation: EtcdObservation | undefined;
    let delayMs: number | undefined;
    try {
      observation = await session.observe();
      if (observation && !signal.aborted) delayMs = await this.#act(one, session, observation);
    } catch (error) {
      // A concurrent write or a stale cache is not an error: the next round decides again.
      if (hasCode(error, 'Conflict') || hasCode(error, 'NotFound')) delayMs = changePeriodMs;
      else if (!signal.aborted)
        this.#context!.log.warn('care of etcd failed', { controlPlane: id, error: asError(error) });
    } finally {
      session.close();
    }
    if (signal.aborted) return periodMs;
    const isReached = observation?.listed !== undefined;
    one.failures = isReached && delayMs !== undefined ? 0 : one.failures + 1;
    const health =
      observation && (isReached || observation.isDetailed)
        ? { ...healthOf(observation, one.losses), space: one.space.report() }
        : undefined;
    this.#options.metrics.observe(one.object, figuresOf(observation, one.target.space, one.space));
    if (publish(one, health)) this.#context!.enqueue({ namespace: one.object.namespace, name: one.object.name });
    if (one.failures === 0) return delayMs!;
    // etcd refuses changes for a few seconds after the start of a member: a short back-off is enough.
    const backOffMs = isReached ? hintPeriodMs(one) : periodMs * 2 ** Math.min(one.failures, 10);
    return Math.min(periodMaxMs, backOffMs, delayMs ?? periodMaxMs);
  }

  async #act(
    one: Tracked,
    session: ReturnType<OpenSession>,
    observation: EtcdObservation,
  ): Promise<number | undefined> {
    const { clock, lossTimes, periodMs: calmPeriodMs = periodMs } = this.#options;
    const nowMs = clock.monotonicMs();
    one.losses = followLosses(one.losses, observation, nowMs);
    one.space.observed(observation, spaceOf(observation, one.target.space));
    const action = planNext(observation, confirmedLosses(one.losses, nowMs, lossTimes));
    const spaceAction = action ? undefined : planSpace(observation, one.target.space, one.space, nowMs);
    if (spaceAction) return this.#manageSpace(one, session, observation, spaceAction);
    if (action) {
      const hasEffect = await session.run(action, observation);
      if (hasEffect) this.#report(one, eventOf(action));
      return hasEffect ? actionPeriodMs : joinPeriodMs;
    }
    if (observation.membership.phase === 'joining') return joinPeriodMs;
    if (one.losses.size > 0) return changePeriodMs;
    if (observation.listed === undefined) return undefined;
    return observation.alarms.length > 0 ? alarmPeriodMs : isCalm(observation) ? calmPeriodMs : changePeriodMs;
  }

  async #manageSpace(
    one: Tracked,
    session: ReturnType<OpenSession>,
    observation: EtcdObservation,
    action: SpaceAction,
  ): Promise<number> {
    // The condition says that writes are refused before the work begins.
    const isReported = typeof one.health === 'object' && one.health.alarms.length > 0;
    if (action.type === 'recoverSpace' && !isReported) return actionPeriodMs;
    if (action.type === 'growVolumes') {
      await session.run(action, observation);
      this.#report(one, eventOf(action));
      return alarmPeriodMs;
    }
    if (this.#longActions >= longActionsMax) return changePeriodMs;
    const isSuccess = await this.#rewrite(one, action, () => session.run(action, observation));
    if (isSuccess) this.#report(one, eventOf(action));
    return isSuccess ? actionPeriodMs : changePeriodMs;
  }

  /** Runs an action that rewrites databases. */
  async #rewrite(
    one: Tracked,
    action: Exclude<SpaceAction, { readonly type: 'growVolumes' }>,
    run: () => Promise<boolean>,
  ): Promise<boolean> {
    const { clock, metrics } = this.#options;
    const startedMs = clock.monotonicMs();
    let isSuccess = false;
    this.#longActions++;
    one.space.started(action);
    try {
      const running = run();
      one.running = running.catch(() => {});
      isSuccess = await running;
      return isSuccess;
    } finally {
      this.#longActions--;
      one.running = undefined;
      one.space.ended(action, isSuccess);
      const result = isSuccess ? 'success' : 'failure';
      if (action.type === 'defragment') metrics.defragmented((clock.monotonicMs() - startedMs) / 1_000, result);
      else metrics.recovered(result);
    }
  }

  #report({ object }: Tracked, event: ReturnType<typeof eventOf>): void {
    const { namespace, name, uid } = object;
    this.#context!.log.info('changed etcd', {
      controlPlane: `${namespace}/${name}`,
      action: event.action,
      note: event.note,
    });
    const { apiVersion, kind } = HostedControlPlane;
    this.#options.events.event({ apiVersion, kind, metadata: { namespace, name, uid } }, event);
  }
}

/** 5 s, and up to a minute after failures. */
const hintPeriodMs = (one: Tracked | undefined): number =>
  Math.min(periodMs, changePeriodMs * 2 ** Math.min(one?.failures ?? 0, 10));

type ObjectName = Pick<TrackedObject, 'namespace' | 'name'>;

const idOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;

/** Returns whether the result matters to the reconciler. One that is not published is forgotten, so that small changes add up. */
function publish(one: Tracked, health: EtcdHealth | undefined): boolean {
  const { health: before } = one;
  if (before === 'pending' || !before || !health) {
    // A member that cannot be reached for a while does not withdraw an alarm.
    const isKept = health === undefined && typeof before === 'object';
    if (!isKept) one.health = health;
    return !isKept && (health !== undefined || before === 'pending');
  }
  if (!isSignificant(before, health)) return false;
  one.health = health;
  return true;
}

function isSignificant(before: EtcdHealth, after: EtcdHealth): boolean {
  const summary = ({ alarms, members, isQuorumLost, change, space }: EtcdHealth): string =>
    JSON.stringify([
      alarms.map(({ type, member }) => [type, member]),
      members.map(({ name, id, role, isHealthy, version, dataVersion, revision }) => [
        name,
        id,
        role,
        isHealthy,
        version,
        dataVersion,
        revision,
      ]),
      isQuorumLost,
      change,
      space,
    ]);
  if (summary(before) !== summary(after)) return true;
  const difference = Math.abs(after.dbSizeBytes - before.dbSizeBytes);
  return difference >= Math.max(changeBytesMin, before.dbSizeBytes * changeShareMin);
}
