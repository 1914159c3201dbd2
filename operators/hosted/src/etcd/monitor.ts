/**
 * Probes the etcd of every control plane from time to time, outside of the reconciler, and enqueues a control plane when the result
 * matters to it.
 *
 * A running etcd does not report its alarms to the management cluster, so they are polled. The cost is bounded: each control plane once
 * a minute, and at most ten probes a second for all of them together, so 1,000 control planes are probed every 100 seconds. A probe is one
 * connection with two requests. A component that is not available is a hint: controllers exit when they cannot renew their leases. Unreachable members are polled less and less often.
 */

import { sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { RawSource, SourceContext } from '@hangar/runtime';
import type { EtcdHealth, EtcdProbe, EtcdTarget } from './probe.ts';

const periodMs = 60_000;
/** While there is an alarm: its end is reported soon. */
const alarmPeriodMs = 10_000;
/** After a hint. */
const hintPeriodMs = 5_000;
const periodMaxMs = 600_000;
const spacingMs = 100;
const concurrentMax = 8;

/** A size that differs less than this from the published one is not published. */
const changeBytesMin = 16 * 2 ** 20;
const changeShareMin = 0.05;

export interface EtcdMonitorOptions {
  readonly clock: Clock;
  readonly probe: EtcdProbe;
}

/** The object to enqueue. */
export interface TrackedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Tracked {
  readonly object: TrackedObject;
  target: EtcdTarget;
  dueMs: number;
  /** Start of the last probe. */
  probedMs: number;
  turn: number;
  failures: number;
  isProbing: boolean;
  health: EtcdHealth | 'pending' | undefined;
}

export class EtcdMonitor {
  readonly #clock: Clock;
  readonly #probe: EtcdProbe;
  /** By namespace and name. */
  readonly #tracked = new Map<string, Tracked>();
  #running = 0;
  #wake: () => void = () => {};

  constructor({ clock, probe }: EtcdMonitorOptions) {
    this.#clock = clock;
    this.#probe = probe;
  }

  /** Starts to probe the etcd of an object. Returns the published result: `pending` before the first probe, undefined if it failed. */
  track(object: TrackedObject, target: EtcdTarget): EtcdHealth | 'pending' | undefined {
    const key = keyOf(object);
    const known = this.#tracked.get(key);
    if (known?.object.uid === object.uid) {
      known.target = target;
      return known.health;
    }
    const dueMs = this.#clock.monotonicMs();
    const probes = { dueMs, probedMs: -Infinity, turn: 0, failures: 0, isProbing: false };
    this.#tracked.set(key, { object, target, ...probes, health: 'pending' });
    this.#wake();
    return 'pending';
  }

  /** Probes soon: something else indicates a problem of etcd. */
  hint(object: Pick<TrackedObject, 'namespace' | 'name'>): void {
    const one = this.#tracked.get(keyOf(object));
    if (!one) return;
    one.dueMs = Math.min(one.dueMs, one.probedMs + hintPeriodMs);
    this.#wake();
  }

  forget(object: Pick<TrackedObject, 'namespace' | 'name'>): void {
    this.#tracked.delete(keyOf(object));
  }

  /** Runs the probes. A source of the controller, so only the leader probes. */
  readonly source: RawSource = async (context, signal) => {
    while (!signal.aborted) {
      const next = this.#running < concurrentMax ? this.#next() : undefined;
      const waitMs = next && next.dueMs - this.#clock.monotonicMs();
      if (next && waitMs! <= 0) {
        void this.#run(next, context, signal);
        await sleep(this.#clock, spacingMs, signal).catch(() => {});
      } else await this.#idle(waitMs, signal);
    }
  };

  #next(): Tracked | undefined {
    let first: Tracked | undefined;
    for (const one of this.#tracked.values()) {
      if (!one.isProbing && (!first || one.dueMs < first.dueMs)) first = one;
    }
    return first;
  }

  /** Resolves when the next probe may be due. */
  async #idle(waitMs: number | undefined, signal: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<void>();
    const ending = new AbortController();
    this.#wake = woken.resolve;
    const waits = AbortSignal.any([signal, ending.signal]);
    const timer = sleep(this.#clock, waitMs ?? periodMaxMs, waits).catch(() => {});
    await Promise.race([woken.promise, timer]);
    ending.abort();
    this.#wake = () => {};
  }

  async #run(one: Tracked, { cluster, enqueue, log }: SourceContext, signal: AbortSignal): Promise<void> {
    const { client, apiReader } = cluster;
    one.isProbing = true;
    one.probedMs = this.#clock.monotonicMs();
    this.#running++;
    let health: EtcdHealth | undefined;
    try {
      health = await this.#probe(one.target, { client, apiReader, turn: one.turn++, signal });
    } catch (error) {
      if (!signal.aborted) reportFailure(log, one, error);
    } finally {
      one.isProbing = false;
      this.#running--;
      this.#schedule(one, health);
      this.#wake();
    }
    if (signal.aborted || this.#tracked.get(keyOf(one.object)) !== one || !publish(one, health)) return;
    const { namespace, name } = one.object;
    enqueue({ namespace, name });
  }

  #schedule(one: Tracked, health: EtcdHealth | undefined): void {
    one.failures = health ? 0 : one.failures + 1;
    const backOffMs = Math.min(periodMaxMs, periodMs * 2 ** Math.min(one.failures, 10));
    const delayMs = !health ? backOffMs : health.alarms.length > 0 ? alarmPeriodMs : periodMs;
    one.dueMs = this.#clock.monotonicMs() + delayMs;
  }
}

const keyOf = ({ namespace, name }: Pick<TrackedObject, 'namespace' | 'name'>): string => `${namespace}/${name}`;

const reportFailure = (log: Logger, { object: { namespace, name } }: Tracked, error: unknown): void =>
  log.warn('probe of etcd failed', { namespace, name, error });

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
  const named = ({ alarms }: EtcdHealth): string => alarms.map(({ type, member }) => `${type} ${member}`).join();
  if (named(before) !== named(after)) return true;
  const difference = Math.abs(after.dbSizeBytes - before.dbSizeBytes);
  return difference >= Math.max(changeBytesMin, before.dbSizeBytes * changeShareMin);
}
