/**
 * Measures tenants by the usage report of the host: one request for the load of all tenants, from the memory of the host. Objects and bytes
 * have to be counted, so each tenant is counted once, and again only some time after it was written to; the number of counts of one
 * measurement is bounded.
 */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Tenant } from '../host/index.ts';
import type { TenantObject } from '../host/index.ts';
import type { Measurements } from './policy.ts';

export interface MeasuredTenant {
  readonly path: string;
  readonly uid: string;
}

interface Recent {
  readonly requestsPerSecond?: number;
  readonly neighbourP99Seconds?: number;
  /** Only grows while the tenant is open. */
  readonly processingSeconds?: number;
  readonly stalls?: number;
}

interface UsageItem {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: { readonly requests?: { readonly write?: number }; readonly recent?: Recent };
}

interface Count {
  readonly uid: string;
  readonly atMs: number;
  /** Requests that write, when it was counted: another number means that it may have changed. */
  readonly writes: number;
  readonly objects: number;
  readonly storedBytes: number;
}

const countAgainMs = 300_000;
const countsMax = 32;
const countsAtOnce = 4;
const timeoutMs = 20_000;
/** Smaller shares of the processing time do not explain the latency of the neighbours. */
const shareMin = 0.2;

export interface TenantMeasurementsOptions {
  /** Client of the management plane of the host. */
  readonly client: Client;
  readonly clock: Clock;
}

export class TenantMeasurements {
  readonly #options: TenantMeasurementsOptions;
  readonly #counts = new Map<string, Count>();
  /** Processing time at the last measurement. */
  #processed: ReadonlyMap<string, number> | undefined;

  constructor(options: TenantMeasurementsOptions) {
    this.#options = options;
  }

  /** Returns the measurements by path. Rejects if the host does not respond. `isCounted`: objects and bytes are needed. */
  async measure(
    tenants: readonly MeasuredTenant[],
    { isCounted, signal }: { readonly isCounted: boolean; readonly signal: AbortSignal },
  ): Promise<Map<string, Measurements>> {
    const { client } = this.#options;
    const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) };
    const { items = [] } = await client
      .subresource('usage')
      .get<{ readonly items?: readonly UsageItem[] }, TenantObject>(Tenant, { name: '*' }, options);
    const busiest = this.#busiest(items);
    const byPath = new Map(items.map((item) => [item.metadata.name, item]));
    if (isCounted) await this.#count(tenants, byPath, signal);
    return new Map(
      tenants.map(({ path, uid }) => {
        const item = byPath.get(path);
        const recent = item?.metadata.uid === uid ? item.status?.recent : undefined;
        return [path, { ...loadOf(recent, path === busiest), ...this.#counted(path, uid) }];
      }),
    );
  }

  /** Returns the tenant that used the most processing time since the last measurement. */
  #busiest(items: readonly UsageItem[]): string | undefined {
    const now = new Map(items.map(({ metadata, status }) => [metadata.name, status?.recent?.processingSeconds ?? 0]));
    const earlier = this.#processed;
    this.#processed = now;
    if (!earlier) return undefined;
    let [sum, largest, busiest] = [0, 0, undefined as string | undefined];
    for (const [path, seconds] of now) {
      const before = earlier.get(path) ?? 0;
      const used = seconds >= before ? seconds - before : seconds;
      sum += used;
      if (used > largest) [largest, busiest] = [used, path];
    }
    return largest >= sum * shareMin ? busiest : undefined;
  }

  #counted(path: string, uid: string): Measurements {
    const count = this.#counts.get(path);
    return count?.uid === uid ? { objects: count.objects, storedBytes: count.storedBytes } : {};
  }

  /** Counts those that were never counted first, then those whose count is oldest. */
  async #count(
    tenants: readonly MeasuredTenant[],
    byPath: ReadonlyMap<string, UsageItem>,
    signal: AbortSignal,
  ): Promise<void> {
    const nowMs = this.#options.clock.now();
    const paths = new Set(tenants.map(({ path }) => path));
    for (const path of this.#counts.keys()) if (!paths.has(path)) this.#counts.delete(path);
    const due = tenants
      .map((tenant) => {
        const count = this.#counts.get(tenant.path);
        const writes = byPath.get(tenant.path)?.status?.requests?.write ?? 0;
        const isKnown = count?.uid === tenant.uid;
        const isDue = !isKnown || (count.writes !== writes && nowMs - count.atMs >= countAgainMs);
        return { tenant, writes, isDue, atMs: isKnown ? count.atMs : 0 };
      })
      .filter(({ isDue }) => isDue)
      .sort((a, b) => a.atMs - b.atMs)
      .slice(0, countsMax);
    for (let at = 0; at < due.length; at += countsAtOnce) {
      const some = due.slice(at, at + countsAtOnce);
      await Promise.all(some.map(({ tenant, writes }) => this.#countOne(tenant, writes, signal)));
    }
  }

  async #countOne({ path, uid }: MeasuredTenant, writes: number, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) };
    try {
      const { status } = await client
        .subresource('usage')
        .get<{ status?: { objects?: number; storedBytes?: number } }, TenantObject>(Tenant, { name: path }, options);
      const { objects, storedBytes } = status ?? {};
      if (objects === undefined || storedBytes === undefined) return;
      this.#counts.set(path, { uid, atMs: clock.now(), writes, objects, storedBytes });
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
      this.#counts.delete(path);
    }
  }
}

/** A tenant without recent load has no requests. */
const loadOf = (recent: Recent | undefined, isBusiest: boolean): Measurements => ({
  requestsPerSecond: recent?.requestsPerSecond ?? 0,
  stallsPerHour: recent?.stalls ?? 0,
  neighbourP99Ms:
    isBusiest && recent?.neighbourP99Seconds !== undefined ? recent.neighbourP99Seconds * 1_000 : undefined,
});
