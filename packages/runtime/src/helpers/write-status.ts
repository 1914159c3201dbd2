/**
 * Writes the differences of a status, and nothing when there are none. Sends the resourceVersion of the object that was read: others write
 * conditions too, and a merge patch replaces whole lists. The second writer gets `Conflict` and retries.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Client, Kind } from '@hangar/client';
import { keyOf } from '@hangar/client';

export interface StatusWrite<T extends ApiObject & { status?: object }> {
  readonly kind: Kind<T>;
  /** As read. */
  readonly object: T;
  /** The complete status. */
  readonly status: NonNullable<T['status']>;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the object as written, or as read if nothing differs. Rejects with `Conflict` or `NotFound`. */
export async function writeStatus<T extends ApiObject & { status?: object }>(
  client: Client,
  { kind, object, status, signal }: StatusWrite<T>,
): Promise<T> {
  const changed = changedFields(object.status ?? {}, status);
  if (!changed) return object;
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion }, status: changed };
  return client.status.patch(kind, keyOf(object), { type: 'merge', body }, { signal });
}

/** Returns a merge patch: removed fields are null. Undefined: no difference. */
export function changedFields(before: object, after: object): object | undefined {
  const [old, now] = [Object.entries(before), Object.entries(after).filter(([, value]) => value !== undefined)];
  const [oldFields, fields] = [new Map(old), new Map(now)];
  const changed = [
    ...old.filter(([name]) => !fields.has(name)).map(([name]) => [name, null] as const),
    ...now.filter(([name, value]) => !isDeepStrictEqual(oldFields.get(name), value)),
  ];
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
