/** What an operation was told, as JSON. */

import { ApiError, badRequest, isObject, parseJson } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** `what` it is of the request. Throws 400 when it is no object. */
export function sentObject(text: Uint8Array | string, what: string): JsonObject {
  let value: unknown;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw badRequest(`${what} is not JSON: ${error.message}`, error);
  }
  if (!isObject(value)) throw badRequest(`${what} must be a JSON object`);
  return value;
}
