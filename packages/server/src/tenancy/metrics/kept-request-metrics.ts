/**
 * Keeps the request counters of tenants while they are closed, so that the counters of a tenant's own `/metrics` do not go back while the
 * process lives.
 *
 * A tenant without requests leaves nothing behind. The number of series of closed tenants is bounded: beyond it, the tenant that was
 * closed first loses its counters and starts again at zero, with a later `apiserver_request_metrics_start_time_seconds`.
 */

import type { Clock } from '@hangar/core';
import { RequestMetrics } from '../../metrics/request-metrics.ts';

export interface KeptRequestMetricsOptions {
  readonly clock: Clock;
  /** Of closed tenants together. A series takes about 700 bytes. */
  readonly seriesMax?: number;
}

export interface OpenRequestMetrics {
  readonly metrics: RequestMetrics;
  /** The tenant is closed. Once. */
  close(): void;
}

interface Kept {
  /** Of the tenant's identity: another seed is another tenant, which must not see these counters. */
  readonly seed: string;
  readonly metrics: RequestMetrics;
  /** A tenant can be opened again before its former server has closed. */
  openCount: number;
  /** Counted in `#closedSeries` while the tenant is closed. */
  closedSeries: number;
}

const defaultSeriesMax = 4_096;

export class KeptRequestMetrics {
  readonly #clock: Clock;
  readonly #seriesMax: number;
  /** By path; closed tenants in the order in which they were closed. */
  readonly #byPath = new Map<string, Kept>();
  #closedSeries = 0;

  constructor({ clock, seriesMax = defaultSeriesMax }: KeptRequestMetricsOptions) {
    this.#clock = clock;
    this.#seriesMax = seriesMax;
  }

  /** Tenants that are open or have counters. */
  get size(): number {
    return this.#byPath.size;
  }

  open(path: string, seed: string): OpenRequestMetrics {
    let kept = this.#byPath.get(path);
    if (kept?.seed !== seed) {
      this.forget(path);
      kept = { seed, metrics: new RequestMetrics(this.#clock), openCount: 0, closedSeries: 0 };
      this.#byPath.set(path, kept);
    }
    kept.openCount++;
    this.#closedSeries -= kept.closedSeries;
    kept.closedSeries = 0;
    return { metrics: kept.metrics, close: () => this.#close(path, kept) };
  }

  forget(path: string): void {
    const kept = this.#byPath.get(path);
    if (!kept) return;
    this.#byPath.delete(path);
    this.#closedSeries -= kept.closedSeries;
  }

  #close(path: string, kept: Kept): void {
    kept.openCount--;
    if (kept.openCount > 0 || this.#byPath.get(path) !== kept) return;
    this.#byPath.delete(path);
    kept.metrics.compact();
    kept.closedSeries = kept.metrics.seriesCount;
    if (kept.closedSeries === 0) return;
    this.#byPath.set(path, kept);
    this.#closedSeries += kept.closedSeries;
    if (this.#closedSeries > this.#seriesMax) this.#evict();
  }

  #evict(): void {
    for (const [path, { openCount }] of this.#byPath) {
      if (this.#closedSeries <= this.#seriesMax) return;
      if (openCount === 0) this.forget(path);
    }
  }
}
