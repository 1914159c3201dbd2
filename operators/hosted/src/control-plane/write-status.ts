/** Writes the fields of the status that differ or are gone, and nothing if there are none. Records Events after a write. */

import { isDeepStrictEqual } from 'node:util';
import { keyOf } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { ClusterEvents } from '@hangar/runtime';
import { HostedControlPlane } from '../api/index.ts';
import type { HostedControlPlaneStatus } from '../api/index.ts';
import { eventsBetween } from './events.ts';
import type { Writes } from './writes.ts';

export interface StatusWrite {
  readonly client: Client;
  readonly writes: Writes;
  readonly events: Pick<ClusterEvents, 'event'>;
  /** As read. */
  readonly object: HostedControlPlane;
  readonly status: HostedControlPlaneStatus;
  readonly signal: AbortSignal;
}

/** Rejects with `Conflict` after a concurrent write. */
export async function writeStatus({ client, writes, events, object, status, signal }: StatusWrite): Promise<void> {
  const before: Record<string, unknown> = { ...object.status };
  const after: Record<string, unknown> = { ...status };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return;
  const { uid, resourceVersion } = object.metadata;
  const body = {
    metadata: { uid, resourceVersion },
    status: Object.fromEntries(changed.map((name) => [name, after[name] ?? null])),
  };
  await writes.make('status', () =>
    client.status.patch(HostedControlPlane, keyOf(object), { type: 'merge', body }, { signal }),
  );
  for (const event of eventsBetween(object.status, status)) events.event(object, event);
}
