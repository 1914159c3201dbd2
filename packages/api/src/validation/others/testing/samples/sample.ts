/** The type of samples, and helpers to create them. */

import type { JsonObject } from '../../../../object.ts';

export interface Sample {
  /** Path of the collection. */
  readonly path: string;
  readonly object: JsonObject;
  /** Not created: its content would affect the server, or it is not stored. */
  readonly createOnly?: boolean;
  /** Additional objects for creation, beyond `mutations`. */
  readonly more?: readonly JsonObject[];
  /** Objects for updates, made from the stored one. */
  readonly updates?: readonly ((stored: JsonObject) => JsonObject)[];
  /** Mutations that are not compared, because our decoder drops empty lists. */
  readonly except?: RegExp;
  /** Subresources, and the objects sent to them. */
  readonly statuses?: readonly (readonly [subresource: string, change: (stored: JsonObject) => JsonObject])[];
}

export const namespaced = (path: string, plural: string): string => `${path}/namespaces/default/${plural}`;
export const meta = (name: string, more: JsonObject = {}): JsonObject => ({ name, ...more });
export const withSpec = (object: JsonObject, change: JsonObject): JsonObject => ({
  ...object,
  spec: { ...(object['spec'] as JsonObject), ...change },
});
export const withStatus =
  (change: JsonObject) =>
  (object: JsonObject): JsonObject => ({
    ...object,
    status: { ...(object['status'] as JsonObject | undefined), ...change },
  });
export const base64 = (text: string): string => Buffer.from(text).toString('base64');
