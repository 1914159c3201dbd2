/** Decodes responses to objects. Throws `MalformedAnswer` for invalid JSON and unexpected content. */

import type { ObjectList } from '../client.ts';
import { ClientError } from '../errors.ts';
import type { ApiObject, KindNames } from '../kind.ts';

/** Requested form of objects, whole or metadata only, and how it is decoded. */
export interface View {
  readonly accept: string;
  readonly acceptList: string;
  /** Decodes an object, or an item of a list, whose type is absent or that of the view. */
  object<T extends ApiObject>(kind: KindNames, object: T): T;
}

export const wholeObjects: View = {
  accept: 'application/json',
  acceptList: 'application/json',
  object({ apiVersion, kind }, object) {
    object.apiVersion ??= apiVersion;
    object.kind ??= kind;
    return object;
  },
};

const partial = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;

export const onlyMetadata: View = {
  accept: partial('PartialObjectMetadata'),
  acceptList: partial('PartialObjectMetadataList'),
  // Also for a server that ignores the view and returns whole objects.
  object: <T extends ApiObject>({ apiVersion, kind }: KindNames, { metadata }: T) =>
    ({ apiVersion, kind, metadata }) as T,
};

/** Decodes any JSON object. */
export function valueOf<R>(body: Buffer): R {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (cause) {
    throw new ClientError('MalformedAnswer', `the response is not valid JSON: ${excerpt(body)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as R;
  throw new ClientError('MalformedAnswer', `the response is not an object: ${excerpt(body)}`);
}

const excerpt = (body: Buffer): string => JSON.stringify(body.toString('utf8', 0, 80));

export function objectOf<T extends ApiObject>(kind: KindNames, body: Buffer, view: View): T {
  const object = valueOf<T>(body);
  if (!isObjectWithMetadata(object)) {
    throw new ClientError('MalformedAnswer', `the response is a ${kind.kind} without metadata: ${excerpt(body)}`);
  }
  return view.object(kind, object);
}

interface ListBody<T> {
  readonly metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number } | null;
  readonly items?: T[] | null;
}

export function listOf<T extends ApiObject>(kind: KindNames, body: Buffer, view: View): ObjectList<T> {
  const { metadata, items } = valueOf<ListBody<T>>(body);
  // Go encodes an empty list as null; without the field it is not a list.
  if (items === undefined || (items !== null && !items.every?.(isObjectWithMetadata))) {
    throw new ClientError('MalformedAnswer', `the response is not a list of ${kind.plural}: ${excerpt(body)}`);
  }
  const { resourceVersion = '', continue: next, remainingItemCount } = metadata ?? {};
  return {
    items: items?.map((item) => view.object(kind, item)) ?? [],
    resourceVersion,
    ...(next ? { continue: next } : {}),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** Checks the fields that callers access without a check. */
export const isObjectWithMetadata = (value: unknown): value is ApiObject =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as ApiObject).metadata === 'object' &&
  (value as ApiObject).metadata !== null;
