/** Parses the JSON input of an operation. */

import { ApiError, badRequest, isObject, parseJson } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** `what`: the part of the request, for the message. Throws 400 if it is not an object. */
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
