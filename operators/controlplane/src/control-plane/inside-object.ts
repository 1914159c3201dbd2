/** Objects of the operator inside of a tenant, and how they are written. */

import type { ApiObject, Client, Kind, ObjectKey } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Rendered } from '@hangar/node-objects';
import type { Writes } from './writes.ts';

export interface InsideObject {
  readonly kind: Kind<ApiObject>;
  readonly key: ObjectKey;
  /** Everything except names and kind. */
  readonly body: object;
}

type Body<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

export const inside = <T extends ApiObject>(kind: Kind<T>, key: ObjectKey, body: Body<T>): InsideObject => ({
  kind: kind as unknown as Kind<ApiObject>,
  key,
  body,
});

/** Labels and annotations of the object are not kept. */
export function insideOf({ kind, object }: Rendered): InsideObject {
  const { apiVersion: _, kind: __, metadata, ...body } = object;
  const { namespace, name } = metadata;
  return { kind, key: { ...(namespace === undefined ? {} : { namespace }), name: name! }, body };
}

export interface PutOptions {
  /** Probably nothing of ours exists: creation is attempted first. */
  readonly isNew: boolean;
  readonly writes: Writes;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates or updates the object: other fields stay as they are. An object with immutable fields, such as the role of a binding, is
 * recreated. One request where `isNew` is right.
 */
export async function putInside(
  client: Client,
  object: InsideObject,
  { isNew, writes, signal }: PutOptions,
): Promise<void> {
  const { kind, key, body } = object;
  const create = () => client.create(kind, { metadata: { ...key }, ...body } as ApiObject, { signal });
  const change = () => client.patch(kind, key, { type: 'merge', body }, { signal });
  await writes.make(`inside.${kind.plural}`, async () => {
    try {
      await (isNew ? create() : change());
    } catch (error) {
      if (hasCode(error, 'AlreadyExists')) await change().catch(renewing);
      else if (hasCode(error, 'NotFound')) await create();
      else await renewing(error);
    }
  });
  async function renewing(error: unknown): Promise<void> {
    if (!hasCode(error, 'Invalid')) throw error;
    await client.delete(kind, key, { signal });
    await create();
  }
}
