/** What a sample is, and what samples are made with. */

import type { JsonObject } from '../../../../object.ts';

export interface Sample {
  /** Of the collection. */
  readonly path: string;
  readonly object: JsonObject;
  /** Not created for real: what it says would trouble the server, or it is not stored. */
  readonly createOnly?: boolean;
  /** Beyond what `mutations` makes: on creation. */
  readonly more?: readonly JsonObject[];
  /** Objects that an update may send: made from what was stored. */
  readonly updates?: readonly ((stored: JsonObject) => JsonObject)[];
  /** Mutations that are not compared, because our decoder drops empty lists. */
  readonly except?: RegExp;
  /** Subresources, and what is sent there. */
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
