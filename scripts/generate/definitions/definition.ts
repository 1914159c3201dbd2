/** Generates a CustomResourceDefinition from a kind and its interface, with fields in a readable order. */

import type { KindNames } from '../../../packages/client/src/kind.ts';
import type { Tag } from './doc.ts';
import type { Declaration } from './read.ts';
import { schemaOfMembers } from './schema.ts';
import type { Types } from './schema.ts';
import { applyTags } from './tags.ts';
import type { Schema } from './tags.ts';
import { SourceError } from './tokens.ts';

/** Fields of every object, as Kubernetes defines them. */
const ofEveryObject = {
  apiVersion: {
    description: 'APIVersion defines the versioned schema of this representation of an object.',
    type: 'string',
  },
  kind: {
    description: 'Kind is a string value representing the REST resource this object represents.',
    type: 'string',
  },
  metadata: { type: 'object' },
} as const;

const ofKinds = new Set(['shortName', 'category', 'column', 'label', 'scale']);

/** Throws `SourceError`. */
export function definitionOf(types: Types, { apiVersion, kind, plural, isNamespaced }: KindNames): object {
  const declaration = types.get(kind);
  if (!declaration?.members || declaration.extends !== 'ApiObject') {
    throw new SourceError(declaration?.file ?? 'kinds', declaration?.line ?? 0, `${kind} must be an ApiObject`);
  }
  const [group, version] = apiVersion.split('/') as [string, string];
  const { doc } = declaration;
  const said = (name: string): string[] => doc.tags.filter((tag) => tag.name === name).map(({ text }) => text);
  const names = {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: said('shortName'),
    categories: said('category'),
  };
  const columns = doc.tags.filter(({ name }) => name === 'column').map((tag) => columnOf(tag, declaration));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...labelsOf(said('label'), declaration) },
    spec: {
      group,
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      names,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...subresourcesOf(declaration, said('scale')),
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schemaOfKind(types, declaration) },
        },
      ],
    },
  };
}

function schemaOfKind(types: Types, declaration: Declaration): Schema {
  const { name, members, doc } = declaration;
  if (!doc.description) throw new SourceError(declaration.file, declaration.line, `${name} is not described`);
  const { properties, ...rest } = schemaOfMembers(types, members!, [name]);
  const schema: Schema = { description: doc.description, ...rest, properties: { ...ofEveryObject, ...properties } };
  applyTags(
    schema,
    doc.tags.filter((tag) => !ofKinds.has(tag.name)),
    declaration,
  );
  return schema;
}

/** Each `cluster.x-k8s.io/v1beta1 v1alpha1`. */
function labelsOf(all: readonly string[], { file, line }: Declaration): { labels?: Record<string, string> } {
  const pairs = all.map((text) => text.split(' '));
  const wrong = pairs.find(({ length }) => length !== 2);
  if (wrong) throw new SourceError(file, line, `@label ${wrong.join(' ')} is written: name value`);
  return pairs.length === 0 ? {} : { labels: Object.fromEntries(pairs) as Record<string, string> };
}

/** `.spec.replicas .status.replicas .status.selector`. */
function subresourcesOf({ members, file, line }: Declaration, [scale]: readonly string[]): object {
  if (!members!.some(({ name }) => name === 'status')) return {};
  if (scale === undefined) return { subresources: { status: {} } };
  const [specReplicasPath, statusReplicasPath, labelSelectorPath, ...more] = scale.split(' ');
  if (!labelSelectorPath || more.length > 0) {
    throw new SourceError(file, line, `@scale ${scale} is written: .spec.path .status.path .status.selectorPath`);
  }
  return { subresources: { status: {}, scale: { specReplicasPath, statusReplicasPath, labelSelectorPath } } };
}

/** `Endpoint string .status.endpoint priority 1`. */
function columnOf({ text }: Tag, { file, line }: Declaration): object {
  const [, name, type, jsonPath, priority] =
    /^(\w+) (string|integer|number|boolean|date) (\.\S+)(?: priority (\d+))?$/.exec(text) ?? [];
  if (!name) throw new SourceError(file, line, `@column ${text} is written: Name type .path [priority N]`);
  return { name, type, jsonPath, ...(priority === undefined ? {} : { priority: Number(priority) }) };
}
