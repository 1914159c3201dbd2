/** Values of etcd as a tenant stores them: JSON. An API server that was not made from a tenant stores protobuf. */

import { applyDefaults, decodeProtobuf, isProtobuf, normalise, schemaOf } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';

/** Throws if the value is neither JSON nor protobuf of a known kind. */
export const decodeStored = (value: Uint8Array): JsonObject =>
  isProtobuf(value) ? decodeProtobuf(value) : (JSON.parse(Buffer.from(value).toString()) as JsonObject);

/** kube-apiserver sets some defaults only when it reads an object: a tenant stores them, in the order of the type. */
function asServed(object: JsonObject): JsonObject {
  applyDefaults(object as KubeObject);
  const { kind, apiVersion } = object as KubeObject;
  const schema = schemaOf(apiVersion, kind);
  const { kind: _, apiVersion: __, ...rest } = schema ? normalise(schema, object) : object;
  return { kind, apiVersion, ...rest };
}

/** Returns JSON values unchanged. `key`: for the error. */
export function asJson(key: string, value: Uint8Array): Uint8Array {
  if (!isProtobuf(value)) return value;
  try {
    return Buffer.from(JSON.stringify(asServed(decodeProtobuf(value))));
  } catch (error) {
    throw new Error(`the value of ${JSON.stringify(key)} cannot be converted to JSON`, { cause: error });
  }
}
