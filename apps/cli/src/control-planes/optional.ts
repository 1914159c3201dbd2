/** An object that need not be there. */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { hasCode } from '@hangar/core';

/** Undefined: there is none, or not even its kind. */
export async function find<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  name: string,
  signal?: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get(kind, { name }, { signal });
  } catch (error) {
    if (hasCode(error, 'NotFound')) return undefined;
    throw error;
  }
}
