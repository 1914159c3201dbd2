/** Objects of the operator inside of a tenant, and how they get there. */

import type { ApiObject, Client, Kind, ObjectKey } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Writes } from './writes.ts';

export interface InsideObject {
  readonly kind: Kind<ApiObject>;
  readonly key: ObjectKey;
  /** All but names and kind. */
  readonly body: object;
}

type Body<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

export const inside = <T extends ApiObject>(kind: Kind<T>, key: ObjectKey, body: Body<T>): InsideObject => ({
  kind: kind as unknown as Kind<ApiObject>,
  key,
  body,
});

export interface PutOptions {
  /** Nothing of ours was there before, as far as is known: to make it is tried first. */
  readonly isNew: boolean;
  readonly writes: Writes;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Made, or brought to what it should be: fields that are not said stay as they are. One whose fields may not be changed, such as the
 * role of a binding, is made anew. One request where `isNew` is right.
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
