/** Request bodies of the verbs that write. */

import type { ApplyOptions, DeleteOptions, Draft, Patch, WriteOptions } from '../client.ts';
import type { ApiObject, Kind, KindNames, ObjectKey } from '../kind.ts';
import type { Call } from './caller.ts';
import { deleteFields, writeQuery } from './query.ts';

const contentTypes: Readonly<Record<Patch['type'] | 'apply', string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

type Body = Omit<Call, 'path' | 'method'>;

export const writeOf = <T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options: WriteOptions): Body => ({
  body: { ...object, apiVersion: object.apiVersion ?? kind.apiVersion, kind: object.kind ?? kind.kind },
  query: writeQuery(options),
  signal: options.signal,
});

export const patchOf = ({ type, body }: Patch, options: WriteOptions): Body & { method: string } => ({
  method: 'PATCH',
  body,
  contentType: contentTypes[type],
  query: writeQuery(options),
  signal: options.signal,
});

/** JSON is valid YAML. */
export const applyOf = (kind: KindNames, object: object, options: ApplyOptions): Body & { method: string } => ({
  method: 'PATCH',
  body: { apiVersion: kind.apiVersion, kind: kind.kind, ...object },
  contentType: contentTypes.apply,
  query: writeQuery(options),
  signal: options.signal,
});

export const deleteOf = (options: DeleteOptions): Body & { method: string } => ({
  method: 'DELETE',
  body: { apiVersion: 'v1', kind: 'DeleteOptions', ...deleteFields(options) },
  signal: options.signal,
});

export function appliedKey(object: object): ObjectKey {
  const { metadata } = object as { metadata?: { namespace?: string; name?: string } };
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}

/** Returns the key of an object that may lack a name, which `objectPath` then reports. */
export const draftKey = ({ metadata }: { readonly metadata: ApiObject['metadata'] }): ObjectKey => ({
  namespace: metadata.namespace,
  name: metadata.name ?? '',
});
