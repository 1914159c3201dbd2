/** The metrics of the autoscaler. Measurements fluctuate, so they are here and not in the status of objects. */

import type { ObjectKey } from '@hangar/client';
import { Counter, labelText } from '@hangar/core';
import { ObjectGauge, TimingFamily } from '@hangar/runtime';
import type { MetricsRegistry } from '@hangar/runtime';
import { idOf, prefix } from './hosted-metrics.ts';

const scrapeBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Figures of one control plane. */
export interface AutoscalingFigures {
  /** Numbers of API servers: min, max, desired, recommended. */
  readonly replicas: Readonly<Record<string, number>>;
  /** Ready API servers that were not measured. */
  readonly unmeasured: number;
  /** Averages over the measured API servers. Absent: none was measured. */
  readonly load?: Readonly<Record<'inFlight' | 'cpuCores', number>> | undefined;
  /** 99th percentile. */
  readonly latencySeconds?: number | undefined;
}

export class AutoscalingMetrics {
  readonly #replicas: ObjectGauge;
  readonly #unmeasured: ObjectGauge;
  readonly #inFlight: ObjectGauge;
  readonly #cpu: ObjectGauge;
  readonly #latency: ObjectGauge;
  readonly #scrapes: TimingFamily;
  readonly #scrapeErrors: Counter;
  readonly #scalings: Counter;

  constructor(registry: MetricsRegistry) {
    const gauge = (name: string, help: string): ObjectGauge =>
      registry.register(new ObjectGauge(`${prefix}_control_plane_autoscaling_${name}`, help));
    this.#replicas = gauge('replicas', 'Number of API servers: bounds, desired, and required by the load.');
    this.#unmeasured = gauge('unmeasured_api_servers', 'Number of ready API servers without a measurement.');
    this.#inFlight = gauge('in_flight_requests', 'Average number of requests in flight in an API server.');
    this.#cpu = gauge('cpu_cores', 'Average CPU use of an API server in cores.');
    this.#latency = gauge('latency_seconds', '99th percentile of the duration of requests.');
    this.#scrapes = registry.register(
      new TimingFamily(
        `${prefix}_scrape_duration_seconds`,
        'Duration of a measurement of an API server.',
        scrapeBounds,
      ),
    );
    const counter = (name: string, help: string): Counter => registry.register(new Counter(`${prefix}_${name}`, help));
    this.#scrapeErrors = counter('scrape_errors_total', 'Total number of failed measurements of API servers.');
    this.#scalings = counter('scalings_total', 'Total number of changes by the autoscaler by direction.');
    this.#scrapeErrors.add('', 0);
    for (const direction of ['up', 'down']) this.#scalings.add(labelText({ direction }), 0);
  }

  /** Replaces the series of a control plane. */
  observe(key: ObjectKey, { replicas, unmeasured, load, latencySeconds }: AutoscalingFigures): void {
    const id = idOf(key);
    const labels = { namespace: key.namespace ?? '', name: key.name };
    this.#replicas.replace(
      id,
      Object.entries(replicas).map(([state, count]) => [{ ...labels, state }, count]),
    );
    this.#unmeasured.replace(id, [[labels, unmeasured]]);
    this.#inFlight.replace(id, load ? [[labels, load.inFlight]] : []);
    this.#cpu.replace(id, load ? [[labels, load.cpuCores]] : []);
    this.#latency.replace(id, latencySeconds === undefined ? [] : [[labels, latencySeconds]]);
  }

  remove(key: ObjectKey): void {
    const id = idOf(key);
    for (const gauge of [this.#replicas, this.#unmeasured, this.#inFlight, this.#cpu, this.#latency]) gauge.remove(id);
  }

  scraped(seconds: number, isOk: boolean): void {
    this.#scrapes.series({}).observe(seconds);
    if (!isOk) this.#scrapeErrors.add('');
  }

  scaled(direction: 'up' | 'down'): void {
    this.#scalings.add(labelText({ direction }));
  }
}
