/**
 * Keeps the request counters of tenants while they are closed, so that the counters of a tenant's own `/metrics` do not decrease while the
 * process runs.
 *
 * A tenant without requests leaves nothing behind. The number of series of closed tenants is bounded: beyond it, the tenant that was closed
 * first loses its counters and starts again at zero, with a later `apiserver_request_metrics_start_time_seconds`.
 */

import type { Clock } from '@hangar/core';
import { ControlPlaneMetrics } from '../../metrics/control-plane-metrics.ts';

export interface KeptRequestMetricsOptions {
  readonly clock: Clock;
  /** Maximum number of series of all closed tenants. A series takes about 700 bytes. */
  readonly seriesMax?: number;
}

export interface OpenRequestMetrics {
  readonly metrics: ControlPlaneMetrics;
  /** Called once, when the tenant is closed. */
  close(): void;
}

interface Kept {
  /** Seed of the tenant's identity. Another seed is another tenant, which must not see these counters. */
  readonly seed: string;
  readonly metrics: ControlPlaneMetrics;
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

  /** Number of tenants that are open or have counters. */
  get size(): number {
    return this.#byPath.size;
  }

  open(path: string, seed: string): OpenRequestMetrics {
    let kept = this.#byPath.get(path);
    if (kept?.seed !== seed) {
      this.forget(path);
      kept = { seed, metrics: new ControlPlaneMetrics(this.#clock), openCount: 0, closedSeries: 0 };
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
