/** Reads an object that may not exist. */

import { hasCode } from '@hangar/core';
import type { GetOptions, Reader } from './client.ts';
import type { ApiObject, Kind, ObjectKey } from './kind.ts';

/** Returns the object, or undefined when it does not exist. Rejects with all other errors of `get`. */
export async function find<T extends ApiObject>(
  reader: Pick<Reader, 'get'>,
  kind: Kind<T>,
  key: ObjectKey,
  options?: GetOptions,
): Promise<T | undefined> {
  try {
    return await reader.get(kind, key, options);
  } catch (error) {
    if (hasCode(error, 'NotFound')) return undefined;
    throw error;
  }
}
