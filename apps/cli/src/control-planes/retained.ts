/** The data of control planes that were deleted with the policy Retain. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { RetainedTenant } from '../kinds.ts';
import type { RetainedTenantObject } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { quoted } from '../terminal/plain-text.ts';
import type { Styler } from '../terminal/styles.ts';
import { table } from '../terminal/table.ts';
import { ageOf } from './table.ts';

/** `paths` is empty: all. Rejects with `Failed` for a path without retained data. */
export async function listRetained(
  client: Client,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly RetainedTenantObject[]> {
  if (paths.length > 0) return Promise.all(paths.map((path) => findRetained(client, path, signal)));
  try {
    return (await client.list(RetainedTenant, { signal })).items;
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed('the server does not serve RetainedTenants', {
      next: 'use the Hangar that serves the tenants: --data-dir DIR or --kubeconfig FILE',
      cause: error,
    });
  }
}

export async function findRetained(client: Client, path: string, signal: AbortSignal): Promise<RetainedTenantObject> {
  try {
    return await client.get(RetainedTenant, { name: path }, { signal });
  } catch (error) {
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'InvalidKey')) throw error;
    throw failed(`no data is retained at path ${quoted(path)}`, {
      next: `to list retained data: ${hangar('get --retained')}`,
      cause: error,
    });
  }
}

export const retainedTable = (
  items: readonly RetainedTenantObject[],
  { now, style }: { readonly now: number; readonly style: Styler },
): string =>
  table(
    ['PATH', 'OBJECTS', 'SIZE', 'MATERIALISED', 'AGE'],
    items.map(({ metadata, status }) => [
      metadata.name ?? '',
      String(status?.objects ?? '?'),
      bytesText(status?.storedBytes),
      String(status?.isMaterialised ?? false),
      ageOf(status?.retainedSince, now),
    ]),
    { style },
  );
