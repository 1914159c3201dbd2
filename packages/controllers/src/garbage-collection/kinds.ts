/** Maps the resource of a change, and the kind in a reference, to a kind for clients. */

import { builtinGroups } from '@hangar/api';
import type { Kind, KindMapper, KindNames } from '@hangar/client';
import { lazy } from '@hangar/core';
import type { ResourceId } from '../contract.ts';

interface Builtin {
  /** By `resource.group`, in the preferred version. */
  readonly byResource: ReadonlyMap<string, KindNames>;
  /** By `apiVersion/kind`. */
  readonly byKind: ReadonlyMap<string, KindNames>;
}

/** The built-in kinds of Kubernetes are the same everywhere: no discovery is needed for them. */
const builtin = lazy((): Builtin => {
  const byResource = new Map<string, KindNames>();
  const byKind = new Map<string, KindNames>();
  for (const { name: group, versions } of builtinGroups()) {
    for (const { name: version, resources } of versions) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      for (const { name: plural, kind, namespaced, storage, isServedByDefault } of resources) {
        if (!storage || !isServedByDefault) continue;
        const names: KindNames = { apiVersion, kind, plural, isNamespaced: namespaced };
        const id = `${plural}.${group}`;
        if (!byResource.has(id)) byResource.set(id, names);
        byKind.set(`${apiVersion}/${kind}`, names);
      }
    }
  }
  return { byResource, byKind };
});

/** Rejects with `UnknownKind` when the control plane does not serve it at present. */
export async function kindOfResource(
  mapper: KindMapper,
  { group, resource }: ResourceId,
  signal: AbortSignal,
): Promise<Kind> {
  return builtin().byResource.get(`${resource}.${group}`) ?? mapper.resource(`${resource}.${group}`, { signal });
}

/** Rejects like `kindOfResource`. */
export async function kindOfReference(
  mapper: KindMapper,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  signal: AbortSignal,
): Promise<Kind> {
  return builtin().byKind.get(`${apiVersion}/${kind}`) ?? mapper.kind(apiVersion, kind, { signal });
}
