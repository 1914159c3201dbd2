/**
 * Histograms of durations for hot paths. The observer keeps a reference to its series; an observation updates one bucket, and cumulative
 * counts are computed on scrape.
 */

import type { Labels } from '@hangar/core';
import { labelText } from '@hangar/core';
import type { MetricFamily } from './registry.ts';

export class TimingSeries {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(seconds: number): void {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (seconds <= bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    this.#counts[low]!++;
    this.#sum += seconds;
  }

  /** Returns the lines without the name of the family. */
  lines(labels: Labels): string[] {
    let count = 0;
    const buckets = this.#counts.map((own, i) => {
      count += own;
      return `_bucket${labelText({ ...labels, le: String(this.#bounds[i] ?? '+Inf') })} ${count}`;
    });
    return [...buckets, `_sum${labelText(labels)} ${this.#sum}`, `_count${labelText(labels)} ${count}`];
  }
}

export class TimingFamily implements MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly labels: Labels; readonly series: TimingSeries }>();

  /** Bounds in seconds, ascending. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** For few label values only: series are never removed. */
  series(labels: Labels): TimingSeries {
    const key = labelText(labels);
    const known = this.#series.get(key);
    if (known) return known.series;
    const series = new TimingSeries(this.#bounds);
    this.#series.set(key, { labels, series });
    return series;
  }

  text(): string {
    const lines = this.#series.values().flatMap(({ labels, series }) => series.lines(labels));
    return [
      `# HELP ${this.name} ${this.#help}`,
      `# TYPE ${this.name} histogram`,
      ...lines.map((line) => `${this.name}${line}`),
    ].join('\n');
  }
}

/** `count` bounds, each `factor` times the previous one, as in the Prometheus client. */
export const exponentialBounds = (start: number, factor: number, count: number): number[] =>
  // Rounded to the intended digits: 1e-8 * 10 ** 3 is not exactly 1e-5.
  Array.from({ length: count }, (_, i) => Number((start * factor ** i).toPrecision(12)));
