/** For those who do not mind: an object, or undefined when there is none. */

import { hasCode } from '@hangar/core';
import type { GetOptions, Reader } from './client.ts';
import type { ApiObject, Kind, ObjectKey } from './kind.ts';

/** Undefined instead of `NotFound`; everything else is rejected with as `get` does. */
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
