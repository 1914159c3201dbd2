/** The resources that an established definition serves: one for each of its versions. */

import { storageVersionHash } from '@hangar/api';
import type { ServedResource } from '@hangar/api';
import type { CustomResourceDefinition, DefinitionVersion } from '@hangar/api/crd';
import type { CacheBudget } from '../objects/cache-budget.ts';
import type { ServedDefinition } from '../resources/catalogue.ts';
import { digestOf } from '../objects/shared-by-content.ts';
import { CustomServedResource } from '../resources/custom.ts';
import { leanDefinition, sharedDefinition } from './shared-definition.ts';

/** `make` builds the resources of callers that serve them differently. With a budget, the compiled parts are cached for later callers. */
export function servedDefinition(
  given: CustomResourceDefinition,
  make: typeof customResource = customResource,
  budget?: CacheBudget,
): ServedDefinition {
  const shared = sharedDefinition(given, budget);
  const definition = leanDefinition(given, shared);
  const { spec } = definition;
  const resources = new Map<string, CustomServedResource>();
  const versions: { name: string; resource: ServedResource }[] = [];
  const content = [shared.digest];
  for (const version of shared.versions) {
    if (!version.served) continue;
    const resource = make(definition, version, shared.compiled);
    resources.set(version.name, resource);
    const shown = shownAs(resource, definition, version);
    const text = JSON.stringify([version.name, shown], withoutSchema);
    versions.push({ name: version.name, resource: shared.shown(text, shown) });
    content.push(text);
  }
  const { group, names } = spec;
  const { name } = definition.metadata;
  return { name: name!, group, plural: names.plural, resources, versions, content: digestOf(content.join('\n')) };
}

/** All parts except the schema may be specific to the resource. */
const withoutSchema = (key: string, value: unknown): unknown => (key === 'jsonSchema' ? undefined : value);

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
