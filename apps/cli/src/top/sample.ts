/** Reads the activity of all tenants at one moment, in one request. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { insistOnSuccess, tenantTarget } from '../commands/common/tenant-request.ts';
import { failed } from '../errors.ts';

export interface TenantSample {
  readonly name: string;
  readonly uid: string;
  /** Since the tenant was loaded. */
  readonly reads: number;
  readonly writes: number;
  readonly watches: number;
  readonly memoryBytes: number;
  /** Only when they were counted. */
  readonly objects?: number;
  readonly storedBytes?: number;
}

export interface Sample {
  /** Monotonic time of the sample. */
  readonly atMs: number;
  /** Number of tenants, loaded or not. */
  readonly tenants: number;
  readonly items: readonly TenantSample[];
}

export interface SampleOptions {
  readonly includesIdle: boolean;
  readonly isCounted: boolean;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

interface Told {
  readonly status?: { readonly tenants?: unknown };
  readonly items?: readonly {
    readonly metadata?: { readonly name?: unknown; readonly uid?: unknown };
    readonly status?: Readonly<Record<string, unknown>> & { readonly requests?: Readonly<Record<string, unknown>> };
  }[];
}

export async function takeSample(client: Client, options: SampleOptions): Promise<Sample> {
  const { includesIdle, isCounted, nowMs, signal } = options;
  const query = { ...(includesIdle ? { idle: 'true' } : {}), ...(isCounted ? { count: 'true' } : {}) };
  const target = tenantTarget('*', 'usage', query);
  const answer = await client.raw({ method: 'GET', target, headers: { accept: 'application/json' }, signal });
  const atMs = nowMs();
  try {
    await insistOnSuccess(answer);
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed('the server does not serve tenants', {
      next: 'use the Hangar that serves the tenants: --data-dir DIR or --kubeconfig FILE',
      cause: error,
    });
  }
  const told = JSON.parse((await answer.body()).toString()) as Told;
  const items = (told.items ?? []).map(({ metadata, status = {} }): TenantSample => {
    const { objects, storedBytes } = status;
    return {
      name: String(metadata?.name ?? ''),
      uid: String(metadata?.uid ?? ''),
      reads: amount(status.requests?.['read']),
      writes: amount(status.requests?.['write']),
      watches: amount(status['watches']),
      memoryBytes: amount(status['memoryBytes']),
      ...(objects === undefined ? {} : { objects: amount(objects) }),
      ...(storedBytes === undefined ? {} : { storedBytes: amount(storedBytes) }),
    };
  });
  return { atMs, tenants: amount(told.status?.tenants), items };
}

const amount = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
