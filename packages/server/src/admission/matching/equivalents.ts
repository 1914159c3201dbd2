/** Finds the versions of a resource that serve the same objects, and the kind of those objects. */

import type { ControlPlane } from '../../control-plane.ts';
import { subresourceOf } from '../../resources/resource.ts';
import type { Resource } from '../../resources/resource.ts';

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Returns the kind of the objects in such a request. */
export function kindOf(resource: Resource, subresource: string): Kind {
  const { group, version, kind } = (subresource !== '' && subresourceOf(resource, subresource)) || resource;
  return { group, version, kind };
}

interface Equivalents {
  readonly generation: number;
  readonly resources: readonly Resource[];
}

const known = new WeakMap<ControlPlane['catalogue'], WeakMap<Resource, Equivalents>>();

/** Returns the other versions of a resource, in any group, that serve the same stored objects. */
export function equivalentsOf({ catalogue }: ControlPlane, resource: Resource): readonly Resource[] {
  if (resource.storagePrefix === '') return [];
  let cache = known.get(catalogue);
  if (!cache) known.set(catalogue, (cache = new WeakMap()));
  let found = cache.get(resource);
  if (!found || found.generation !== catalogue.generation) {
    const { generation, groups } = catalogue;
    const resources = groups.flatMap(({ name: group, versions }) =>
      versions.flatMap(({ name: version }) => {
        // Resources that serve the same objects have the same name, in any group.
        const other = catalogue.find({ group, version, resource: resource.name });
        return other && other !== resource && other.storagePrefix === resource.storagePrefix ? [other] : [];
      }),
    );
    cache.set(resource, (found = { generation, resources }));
  }
  return found.resources;
}
