/** Writes the fields of the status that differ, and nothing if there are none. */

import { isDeepStrictEqual } from 'node:util';
import { keyOf } from '@hangar/client';
import type { Client } from '@hangar/client';
import { HostedControlPlane } from '../api/index.ts';
import type { HostedControlPlaneStatus } from '../api/index.ts';
import type { Writes } from './writes.ts';

export interface StatusWrite {
  readonly client: Client;
  readonly writes: Writes;
  /** As read. */
  readonly object: HostedControlPlane;
  readonly status: HostedControlPlaneStatus;
  readonly signal: AbortSignal;
}

/** Rejects with `Conflict` after a concurrent write. */
export async function writeStatus({ client, writes, object, status, signal }: StatusWrite): Promise<void> {
  const before: Record<string, unknown> = { ...object.status };
  const changed = Object.entries(status).filter(([name, value]) => !isDeepStrictEqual(before[name], value));
  if (changed.length === 0) return;
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion }, status: Object.fromEntries(changed) };
  await writes.make('status', () =>
    client.status.patch(HostedControlPlane, keyOf(object), { type: 'merge', body }, { signal }),
  );
}
