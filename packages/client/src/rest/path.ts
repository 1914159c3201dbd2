/** Where a kind's objects are. */

import { assert } from '@hangar/core';
import type { KindNames } from '../kind.ts';

/** Without a name: the collection. Without a namespace: that of all namespaces. */
export function pathOf(
  kind: KindNames,
  key: { namespace?: string | undefined; name?: string | undefined },
  subresource = '',
): string {
  const { apiVersion, plural, isNamespaced } = kind;
  let path = apiVersion.includes('/') ? `/apis/${apiVersion}/` : `/api/${apiVersion}/`;
  if (isNamespaced && key.namespace) path += `namespaces/${segment(key.namespace)}/`;
  path += plural;
  if (key.name !== undefined) {
    assert(key.name !== '', `a ${kind.kind} without a name`);
    path += `/${segment(key.name)}`;
  }
  return subresource === '' ? path : `${path}/${subresource}`;
}

/** Names of some kinds have colons and the like; none may leave its place in the path. */
function segment(name: string): string {
  assert(name !== '.' && name !== '..', `"${name}" is no name`);
  return encodeURIComponent(name).replaceAll('%3A', ':');
}
