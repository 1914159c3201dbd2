/** For tests: CustomResourceDefinitions as served resources, without validation. */

import type { JsonObject } from '../../object.ts';
import type { ServedGroup, ServedResource, ServedSubresource } from '../model.ts';
import { storageVersionHash } from '../storage-version-hash.ts';

export interface Definition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: {
      readonly plural: string;
      readonly singular: string;
      readonly kind: string;
      readonly listKind?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly DefinitionVersion[];
  };
}

interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: JsonObject };
  readonly subresources?: { readonly status?: object; readonly scale?: object };
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** Versions are in the order in which they first come. */
export function servedGroupsOf(definitions: readonly Definition[]): ServedGroup[] {
  const groups = new Map<string, Map<string, ServedResource[]>>();
  for (const definition of definitions) {
    const { group, versions } = definition.spec;
    const served = groups.get(group) ?? new Map<string, ServedResource[]>();
    groups.set(group, served);
    for (const version of versions.filter((one) => one.served)) {
      served.set(version.name, [...(served.get(version.name) ?? []), resourceOf(definition, version)]);
    }
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions].map(([version, resources]) => ({ name: version, resources })),
  }));
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function resourceOf(
  { spec: { group, scope, names, versions } }: Definition,
  version: DefinitionVersion,
): ServedResource {
  const { kind } = names;
  const subresources: ServedSubresource[] = [];
  const subresourceVerbs = ['get', 'patch', 'update'];
  if (version.subresources?.status) {
    subresources.push({ name: 'status', group, version: version.name, kind, verbs: subresourceVerbs });
  }
  if (version.subresources?.scale) {
    subresources.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: subresourceVerbs });
  }
  const stored = versions.find(({ storage }) => storage)!.name;
  return {
    name: names.plural,
    singular: names.singular,
    kind,
    namespaced: scope === 'Namespaced',
    verbs,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    subresources,
    storageVersionHash: storageVersionHash({ group, version: stored, kind }),
    schema: {
      type: 'custom',
      listKind: names.listKind ?? `${kind}List`,
      jsonSchema: version.schema.openAPIV3Schema,
      selectableFields: version.selectableFields?.map(({ jsonPath }) => jsonPath) ?? [],
    },
  };
}
