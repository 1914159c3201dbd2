/**
 * Metrics of tenants for the monitoring of the platform, with a bounded number of series: the busiest tenants have their own, all others
 * share `tenant="other"`. A tenant keeps its series until another one is clearly busier; then its counts are added to `other`, once. So
 * sums over all tenants only grow, and a series only starts at 0 or disappears:
 *
 *     demo 40   other 100        shop overtakes demo
 *     shop 0    other 140        the sum is the same; demo would start at 0 again
 *
 * `rate()` of `other` shows such a move as a burst of requests: exclude it from graphs, or use a longer range. There is no timer: requests
 * and scrapes trigger the ranking.
 */

import type { Clock } from '@hangar/core';
import { labelText } from '@hangar/core';

export interface TenantMetricsOptions {
  readonly clock: Clock;
  /** Maximum number of tenants with their own series. */
  readonly topMax?: number;
  /** Interval of the ranking. */
  readonly windowMs?: number;
}

export interface TenantCounts {
  readonly tenants: number;
  readonly open: number;
}

const defaultTopMax = 20;
const defaultWindowMs = 60_000;
/** Prevents two tenants that are about equally busy from replacing each other repeatedly. */
const clearlyBusier = 2;
/** A tenant of this name is counted here, too. */
const otherTenants = 'other';

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

class Series {
  readonly codes = classes.map(() => 0);
  seconds = 0;
  timed = 0;

  take(from: Series): void {
    for (const at of this.codes.keys()) this.codes[at]! += from.codes[at]!;
    this.seconds += from.seconds;
    this.timed += from.timed;
  }
}

export class TenantMetrics {
  readonly #clock: Clock;
  readonly #topMax: number;
  readonly #windowMs: number;
  readonly #own = new Map<string, Series>();
  readonly #other = new Series();
  /** Number of requests in this window, by tenant. */
  #asked = new Map<string, number>();
  #windowEndsMs: number;
  /** Number of watches, by tenant; without zeros. */
  readonly #watches = new Map<string, number>();

  constructor({ clock, topMax = defaultTopMax, windowMs = defaultWindowMs }: TenantMetricsOptions) {
    this.#clock = clock;
    this.#topMax = topMax;
    this.#windowMs = windowMs;
    this.#windowEndsMs = clock.monotonicMs() + windowMs;
  }

  /** `ms` is undefined for requests whose duration the client decides. */
  answered(path: string, status: number, ms: number | undefined): void {
    this.#look();
    this.#asked.set(path, (this.#asked.get(path) ?? 0) + 1);
    const series = this.#seriesOf(path);
    const at = Math.min(Math.max(Math.floor(status / 100), 1), classes.length) - 1;
    series.codes[at]!++;
    if (ms === undefined) return;
    series.seconds += ms / 1_000;
    series.timed++;
  }

  watchBegan(path: string): () => void {
    this.#watches.set(path, (this.#watches.get(path) ?? 0) + 1);
    return () => {
      const left = this.#watches.get(path)! - 1;
      if (left > 0) this.#watches.set(path, left);
      else this.#watches.delete(path);
    };
  }

  /** Removes the series of a deleted tenant. */
  forget(path: string): void {
    this.#asked.delete(path);
    this.#demote(path);
  }

  /** Returns the metrics in the Prometheus format. */
  text({ tenants, open }: TenantCounts): string {
    this.#look();
    const all = [...this.#own, [otherTenants, this.#other] as const];
    return [
      ...family('hangar_tenants', 'Number of virtual control planes.', 'gauge', [['', tenants]]),
      ...family('hangar_tenants_open', 'Number of virtual control planes that are open in memory.', 'gauge', [
        ['', open],
      ]),
      ...family(
        'hangar_tenant_requests_total',
        'Total number of requests by tenant; the tenants with the most requests have their own series.',
        'counter',
        all.flatMap(([tenant, { codes }]) =>
          codes.flatMap((count, at) =>
            count === 0 ? [] : [[labelText({ tenant, code_class: classes[at]! }), count] as const],
          ),
        ),
      ),
      ...durations(all),
      ...family('hangar_tenant_watches', 'Number of open watches by tenant.', 'gauge', this.#watchLines()),
    ].join('\n');
  }

  #watchLines(): (readonly [string, number])[] {
    const own = Array.from(this.#own.keys(), (tenant) => [tenant, this.#watches.get(tenant) ?? 0] as const);
    let others = 0;
    for (const [tenant, count] of this.#watches) if (!this.#own.has(tenant)) others += count;
    return [...own, [otherTenants, others] as const].map(([tenant, count]) => [labelText({ tenant }), count] as const);
  }

  /** Creates a series for the tenant if the maximum is not reached. */
  #seriesOf(path: string): Series {
    let own = this.#own.get(path);
    if (!own && this.#own.size < this.#topMax && path !== otherTenants) this.#own.set(path, (own = new Series()));
    return own ?? this.#other;
  }

  /** At the end of a window, clearly busier tenants replace quieter ones. */
  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#windowEndsMs) return;
    this.#windowEndsMs = nowMs + this.#windowMs;
    const asked = this.#asked;
    this.#asked = new Map();
    const count = (path: string): number => asked.get(path) ?? 0;
    const quietest = [...this.#own.keys()].sort((a, b) => count(a) - count(b));
    const busiest = [...asked.keys()]
      .filter((path) => !this.#own.has(path) && path !== otherTenants)
      .sort((a, b) => count(b) - count(a));
    for (const path of busiest.slice(0, this.#topMax)) {
      const last = quietest.shift();
      if (last === undefined || count(path) <= clearlyBusier * count(last)) return;
      this.#demote(last);
      this.#own.set(path, new Series());
    }
  }

  #demote(path: string): void {
    const series = this.#own.get(path);
    if (!series) return;
    this.#own.delete(path);
    this.#other.take(series);
  }
}

const family = (
  name: string,
  help: string,
  type: 'counter' | 'gauge',
  values: readonly (readonly [string, number])[],
): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...values.map(([labels, value]) => `${name}${labels} ${value}`),
];

function durations(all: readonly (readonly [string, Series])[]): string[] {
  const name = 'hangar_tenant_request_duration_seconds';
  return [
    `# HELP ${name} Response latency by tenant in seconds, without watches.`,
    `# TYPE ${name} summary`,
    ...all.flatMap(([tenant, { seconds, timed }]) => {
      const labels = labelText({ tenant });
      return [`${name}_sum${labels} ${seconds}`, `${name}_count${labels} ${timed}`];
    }),
  ];
}
