/**
 * Records Kubernetes Events, which `kubectl describe` and `kubectl events` show.
 *
 *     const recorder = new EventRecorder({ component: 'widget-operator' });
 *     recorder.for(context.cluster).normal(widget, 'Scaled', 'there are three now');
 *
 * The rules are those of client-go: equal events within six minutes become one event with a count; a burst of 25 for each object, then one
 * in five minutes. Recording never blocks and never fails: events that cannot be written in time are dropped and counted.
 */

import { hostname } from 'node:os';
import { qualifiedNameReasons } from '@hangar/api/formats';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Cluster } from '../cluster.ts';
import { RuntimeError } from '../errors.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { ClusterEvents } from './cluster-events.ts';
import { eventApis } from './event-apis.ts';
import type { EventApiName } from './event-apis.ts';
import { eventMetrics } from './event-metrics.ts';
import type { EventMetrics } from './event-metrics.ts';
import { cut } from './observation.ts';

/** Options of `EventRecorder`. */
export interface EventRecorderOptions {
  /** Reporting component, such as `widget-operator` or `example.org/widget-operator`. */
  readonly component: string;
  /** Reporting instance. Absent: the component and the host name. */
  readonly instance?: string;
  /** API of the Events. Absent: `events.k8s.io/v1`. Use `v1` for servers before 1.19 or if only core Events are permitted. */
  readonly api?: EventApiName;
  /** Maximum number of queued Events per cluster. Absent: 1,000. */
  readonly queueLengthMax?: number;
  /** Maximum number of queued Events of all clusters. Absent: 10,000. */
  readonly queueLengthTotalMax?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger | undefined;
  readonly metrics?: MetricsRegistry | undefined;
}

const instanceBytesMax = 128;

/** The cluster that an Event is written to, or any object with its client. */
export type EventTarget = Pick<Cluster, 'client'>;

/** Records Events of one component. Repeated Events are combined into series. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #metrics: EventMetrics;
  readonly #reporter: { readonly component: string; readonly instance: string };
  readonly #room: { left: number };
  /** Weak, so that the state of a cluster is freed with the cluster. */
  readonly #clusters = new WeakMap<EventTarget, ClusterEvents>();
  readonly #active = new Set<ClusterEvents>();
  #isClosed = false;

  /** Throws `InvalidOptions` if the component is not a valid reporting component. */
  constructor(options: EventRecorderOptions) {
    const { component, instance = `${component}-${hostname()}` } = options;
    const [reason] = qualifiedNameReasons(component);
    if (reason !== undefined) throw new RuntimeError('InvalidOptions', `an event's component ${component}: ${reason}`);
    this.#options = options;
    this.#metrics = eventMetrics(options.metrics, component);
    this.#reporter = { component, instance: cut(instance, instanceBytesMax) };
    this.#room = { left: options.queueLengthTotalMax ?? 10_000 };
  }

  for(cluster: EventTarget): ClusterEvents {
    const known = this.#clusters.get(cluster);
    if (known) return known;
    const { api = 'events.k8s.io/v1', clock = systemClock, random = systemRandom, log } = this.#options;
    const events: ClusterEvents = new ClusterEvents({
      client: cluster.client,
      api: eventApis[api],
      reporter: this.#reporter,
      clock,
      random,
      log,
      metrics: this.#metrics,
      queueLengthMax: this.#options.queueLengthMax ?? 1_000,
      room: this.#room,
      isClosed: () => this.#isClosed,
      onActive: (isActive) => void (isActive ? this.#active.add(events) : this.#active.delete(events)),
    });
    this.#clusters.set(cluster, events);
    return events;
  }

  /** Writes the queued Events within the timeout. Later Events are dropped. Never rejects. */
  async close(timeoutMs = 5_000): Promise<void> {
    this.#isClosed = true;
    const { clock = systemClock } = this.#options;
    const tooLate = new AbortController();
    const timer = clock.after(timeoutMs, () => tooLate.abort());
    await Promise.all(Array.from(this.#active, (events) => events.close(tooLate.signal)));
    timer.cancel();
  }
}
