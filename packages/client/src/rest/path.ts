/** Paths of objects of a kind. Throws `InvalidKey` for invalid keys, before a request is sent. */

import { ClientError } from '../errors.ts';
import type { KindNames, ObjectKey } from '../kind.ts';

/** Returns the path of all objects of a kind, or of those of one namespace. */
export function collectionPath(kind: KindNames, namespace: string | undefined): string {
  const { apiVersion, plural, isNamespaced } = kind;
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}/` : `/api/${apiVersion}/`;
  if (!isNamespaced || namespace === undefined || namespace === '') return group + plural;
  return `${group}namespaces/${segment(namespace, kind, 'namespace')}/${plural}`;
}

/** Returns the path for creating an object: for a namespaced kind, the namespace is required. */
export function creationPath(kind: KindNames, namespace: string | undefined): string {
  requireNamespace(kind, namespace);
  return collectionPath(kind, namespace);
}

export function objectPath(kind: KindNames, { namespace, name }: ObjectKey, subresource = ''): string {
  requireNamespace(kind, namespace);
  const path = `${collectionPath(kind, namespace)}/${segment(name, kind, 'name')}`;
  return subresource === '' ? path : `${path}/${segment(subresource, kind, 'subresource')}`;
}

function requireNamespace({ kind, isNamespaced }: KindNames, namespace: string | undefined): void {
  if (!isNamespaced || (namespace !== undefined && namespace !== '')) return;
  throw new ClientError('InvalidKey', `kind ${kind} is namespaced, but no namespace was given`);
}

/** Matches most names, which need no encoding. */
const plain = /^[A-Za-z0-9][-A-Za-z0-9._:]*$/;

/** As in Kubernetes: a name may be any text that is one path segment. */
function segment(text: string | undefined, { kind }: KindNames, what: string): string {
  if (text !== undefined && plain.test(text)) return text;
  if (!text) throw new ClientError('InvalidKey', `the ${what} of the ${kind} must not be empty`);
  if (text === '.' || text === '..' || /[/%]/.test(text)) {
    throw new ClientError('InvalidKey', `${JSON.stringify(text)} is not a valid ${what} of a ${kind}`);
  }
  return encodeURIComponent(text).replaceAll('%3A', ':');
}
