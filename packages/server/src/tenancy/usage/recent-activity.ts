/**
 * The load of tenants in the last minutes, for decisions on where a tenant should run: its own requests, and the latency of the requests of
 * all other tenants of this server.
 */

import { RequestCounts } from './recent-requests.ts';
import type { RecentRequests } from './recent-requests.ts';

export interface RecentLoad {
  readonly requestsPerSecond: number;
  /** 99th percentile of the duration of requests, without watches. Absent: too few requests. */
  readonly p99Seconds?: number;
  /** The same of the requests to all other tenants of this server. */
  readonly neighbourP99Seconds?: number;
}

/** Returns the loads of all tenants with requests. The cost is proportional to their number. */
export function recentLoads(
  tenants: ReadonlyMap<string, { readonly recent: RecentRequests | undefined }>,
  nowMs: number,
): Map<string, RecentLoad> {
  const all = new RequestCounts();
  for (const { recent } of tenants.values()) recent?.addTo(all, nowMs);
  const loads = new Map<string, RecentLoad>();
  for (const [path, { recent }] of tenants) if (recent) loads.set(path, loadOf(recent, all, nowMs));
  return loads;
}

function loadOf(own: RecentRequests, all: RequestCounts, nowMs: number): RecentLoad {
  const [mine, others] = [new RequestCounts(), new RequestCounts()];
  own.addTo(mine, nowMs);
  for (const [i, count] of all.counts.entries()) others.counts[i] = count - mine.counts[i]!;
  return {
    requestsPerSecond: Math.round(mine.perSecond(nowMs) * 100) / 100,
    ...inSeconds('p99Seconds', mine.p99Ms()),
    ...inSeconds('neighbourP99Seconds', others.p99Ms()),
  };
}

const inSeconds = <Name extends string>(name: Name, ms: number | undefined): { readonly [N in Name]?: number } =>
  ms === undefined ? {} : ({ [name]: Math.round(ms) / 1_000 } as { [N in Name]: number });
