/** Values of etcd as a tenant stores them: JSON. An API server that was not made from a tenant stores protobuf. */

import { decodeProtobuf, isProtobuf } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** Throws if the value is neither JSON nor protobuf of a known kind. */
export const decodeStored = (value: Uint8Array): JsonObject =>
  isProtobuf(value) ? decodeProtobuf(value) : (JSON.parse(Buffer.from(value).toString()) as JsonObject);

/** Returns JSON values unchanged. `key`: for the error. */
export function asJson(key: string, value: Uint8Array): Uint8Array {
  if (!isProtobuf(value)) return value;
  try {
    const { kind, apiVersion, ...rest } = decodeProtobuf(value);
    return Buffer.from(JSON.stringify({ kind, apiVersion, ...rest }));
  } catch (error) {
    throw new Error(`the value of ${JSON.stringify(key)} cannot be converted to JSON`, { cause: error });
  }
}
