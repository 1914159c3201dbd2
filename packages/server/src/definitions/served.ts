/** What an established definition serves: one resource for each of its versions. */

import { storageVersionHash } from '@hangar/api';
import type { KubeObject, ServedResource } from '@hangar/api';
import type { CustomResourceDefinition, DefinitionVersion } from '@hangar/api/crd';
import { compareVersionNames } from '../resources/catalogue.ts';
import type { ServedDefinition } from '../resources/catalogue.ts';
import { CustomServedResource } from '../resources/custom.ts';
import { crd } from './library.ts';

/** `make` is for those who serve their resources in a way of their own. */
export function servedDefinition(
  definition: CustomResourceDefinition,
  make: typeof customResource = customResource,
): ServedDefinition {
  const { spec } = definition;
  const resources = new Map<string, CustomServedResource>();
  const versions: { name: string; resource: ServedResource }[] = [];
  const ordered = spec.versions.toSorted((a, b) => compareVersionNames(b.name, a.name));
  const compiled = new Map(
    ordered.map(({ name }) => [`${spec.group}/${name}`, crd().compileVersion(definition as KubeObject, name)!]),
  );
  for (const version of ordered) {
    if (!version.served) continue;
    const resource = make(definition, version, compiled);
    resources.set(version.name, resource);
    versions.push({ name: version.name, resource: shownAs(resource, definition, version) });
  }
  return { name: definition.metadata.name!, group: spec.group, plural: spec.names.plural, resources, versions };
}

const customResource = (...all: ConstructorParameters<typeof CustomServedResource>): CustomServedResource =>
  new CustomServedResource(...all);

function shownAs(
  resource: CustomServedResource,
  { spec }: CustomResourceDefinition,
  version: DefinitionVersion,
): ServedResource {
  const { name, singular, kind, listKind, namespaced, verbs, shortNames, categories, subresources } = resource;
  const stored = spec.versions.find((one) => one.storage)!;
  return {
    name,
    singular,
    kind,
    namespaced,
    verbs,
    shortNames,
    categories,
    subresources,
    storageVersionHash: storageVersionHash({ group: spec.group, version: stored.name, kind }),
    schema: {
      type: 'custom',
      listKind,
      jsonSchema: version.schema?.openAPIV3Schema as never,
      preservesUnknownFields: spec.preserveUnknownFields ?? false,
      selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath),
    },
  };
}
