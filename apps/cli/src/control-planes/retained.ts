/** The data of control planes that were deleted with the policy Retain. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { HostedControlPlane, RetainedTenant } from '../kinds.ts';
import type { HostedControlPlaneObject, RetainedTenantObject } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { quoted } from '../terminal/plain-text.ts';
import type { Styler } from '../terminal/styles.ts';
import { table } from '../terminal/table.ts';
import { findRetainedDedicated, listRetainedDedicated, retainedSince } from './retained-dedicated.ts';
import { ageOf } from './table.ts';

/** A tenant by its RetainedTenant, a dedicated control plane by its HostedControlPlane. */
export type RetainedData = RetainedTenantObject | HostedControlPlaneObject;

export const isOfDedicated = (one: RetainedData): one is HostedControlPlaneObject =>
  one.kind === HostedControlPlane.kind;

/** `paths` is empty: all. Rejects with `Failed` for a path without retained data. */
export async function listRetained(
  client: Client,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly RetainedData[]> {
  if (paths.length > 0) return Promise.all(paths.map((path) => findRetained(client, path, signal)));
  const dedicated = await listRetainedDedicated(client, signal);
  try {
    return [...(await client.list(RetainedTenant, { signal })).items, ...(dedicated ?? [])];
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    if (dedicated) return dedicated;
    throw failed('the server does not serve RetainedTenants', {
      next: 'use the Hangar that serves the tenants: --data-dir DIR or --kubeconfig FILE',
      cause: error,
    });
  }
}

export async function findRetained(client: Client, path: string, signal: AbortSignal): Promise<RetainedData> {
  try {
    return await client.get(RetainedTenant, { name: path }, { signal });
  } catch (error) {
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'InvalidKey')) throw error;
    const dedicated = await findRetainedDedicated(client, path, signal);
    if (dedicated) return dedicated;
    throw failed(`no data is retained at path ${quoted(path)}`, {
      next: `to list retained data: ${hangar('get --retained')}`,
      cause: error,
    });
  }
}

export const retainedTable = (
  items: readonly RetainedData[],
  { now, style }: { readonly now: number; readonly style: Styler },
): string =>
  table(
    ['PATH', 'MODE', 'OBJECTS', 'SIZE', 'MATERIALISED', 'AGE'],
    items.map((one) => rowOf(one, now)),
    { style },
  );

function rowOf(one: RetainedData, now: number): string[] {
  const name = one.metadata.name ?? '';
  // Its etcd does not run, so the content is not known.
  if (isOfDedicated(one)) return [name, 'Dedicated', '-', '-', '-', ageOf(retainedSince(one), now)];
  const { status } = one;
  return [
    name,
    'Virtual',
    String(status?.objects ?? '?'),
    bytesText(status?.storedBytes),
    String(status?.isMaterialised ?? false),
    ageOf(status?.retainedSince, now),
  ];
}
