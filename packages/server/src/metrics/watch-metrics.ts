/** Metrics of sent watch events, under kube-apiserver's names. */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { CounterSeries, HistogramSeries } from '@hangar/core';

const sizeBounds = [1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072];
const seriesMax = 1_000;

/** Series of the events of one resource. */
export interface EventSeries {
  readonly events: CounterSeries;
  readonly sizes: HistogramSeries;
}

export class WatchMetrics {
  readonly #events = new Counter(
    'apiserver_watch_events_total',
    'Number of events sent to watches, by group, version and resource.',
    'counter',
    seriesMax,
  );
  readonly #sizes = new Histogram(
    'apiserver_watch_events_sizes',
    'Sizes of the events sent to watches in bytes, by group, version and resource.',
    sizeBounds,
    seriesMax,
  );

  of({
    group,
    version,
    name,
  }: {
    readonly group: string;
    readonly version: string;
    readonly name: string;
  }): EventSeries {
    const labels = labelText({ group, resource: name, version });
    return { events: this.#events.with(labels), sizes: this.#sizes.with(labels) };
  }

  get seriesCount(): number {
    return this.#events.size + this.#sizes.size;
  }

  text(): string {
    return `${this.#events.text()}\n${this.#sizes.text()}`;
  }
}
