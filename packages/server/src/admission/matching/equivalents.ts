/** One resource under several names: which versions of it show the same objects, and what kind these are of. */

import type { ControlPlane } from '../../control-plane.ts';
import { subresourceOf } from '../../resources/resource.ts';
import type { Resource } from '../../resources/resource.ts';

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Of the objects that such a request carries. */
export function kindOf(resource: Resource, subresource: string): Kind {
  const { group, version, kind } = (subresource !== '' && subresourceOf(resource, subresource)) || resource;
  return { group, version, kind };
}

interface Equivalents {
  readonly generation: number;
  readonly resources: readonly Resource[];
}

const known = new WeakMap<ControlPlane['catalogue'], WeakMap<Resource, Equivalents>>();

/** The other versions of a resource, also those in other groups, that show the same stored objects. */
export function equivalentsOf({ catalogue }: ControlPlane, resource: Resource): readonly Resource[] {
  if (resource.storagePrefix === '') return [];
  let cache = known.get(catalogue);
  if (!cache) known.set(catalogue, (cache = new WeakMap()));
  let found = cache.get(resource);
  if (!found || found.generation !== catalogue.generation) {
    const { generation, groups } = catalogue;
    const resources = groups.flatMap(({ name: group, versions }) =>
      versions.flatMap(({ name: version }) => {
        // What shows the same objects has the same name, in whichever group.
        const other = catalogue.find({ group, version, resource: resource.name });
        return other && other !== resource && other.storagePrefix === resource.storagePrefix ? [other] : [];
      }),
    );
    cache.set(resource, (found = { generation, resources }));
  }
  return found.resources;
}
