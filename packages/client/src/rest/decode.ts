/** Answers to objects. What is no JSON, or not what was asked for, is `MalformedAnswer`. */

import type { ObjectList } from '../client.ts';
import { ClientError } from '../errors.ts';
import type { ApiObject, KindNames } from '../kind.ts';

/** How objects are asked for and what becomes of them: whole, or only their metadata. */
export interface View {
  readonly accept: string;
  readonly acceptList: string;
  /** An object, or one of a list, whose own type was left out or is that of the view. */
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
  // Also where a server does not know the view and answers all of the object.
  object: <T extends ApiObject>({ apiVersion, kind }: KindNames, { metadata }: T) =>
    ({ apiVersion, kind, metadata }) as T,
};

/** Any object of JSON. */
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
  // Go writes a list of nothing as null; what has no such field is no list.
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

/** What everybody who gets an object will look at without asking. */
export const isObjectWithMetadata = (value: unknown): value is ApiObject =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as ApiObject).metadata === 'object' &&
  (value as ApiObject).metadata !== null;
