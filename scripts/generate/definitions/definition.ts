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

const ofKinds = new Set(['shortName', 'category', 'column']);

/** Throws `SourceError`. */
export function definitionOf(types: Types, { apiVersion, kind, plural, isNamespaced }: KindNames): object {
  const declaration = types.get(kind);
  if (!declaration?.members || declaration.extends !== 'ApiObject') {
    throw new SourceError(declaration?.file ?? 'kinds', declaration?.line ?? 0, `${kind} must be an ApiObject`);
  }
  const [group, version] = apiVersion.split('/') as [string, string];
  const { members, doc } = declaration;
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
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      names,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(members.some(({ name }) => name === 'status') ? { subresources: { status: {} } } : {}),
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

/** `Endpoint string .status.endpoint priority 1`. */
function columnOf({ text }: Tag, { file, line }: Declaration): object {
  const [, name, type, jsonPath, priority] =
    /^(\w+) (string|integer|number|boolean|date) (\.\S+)(?: priority (\d+))?$/.exec(text) ?? [];
  if (!name) throw new SourceError(file, line, `@column ${text} is written: Name type .path [priority N]`);
  return { name, type, jsonPath, ...(priority === undefined ? {} : { priority: Number(priority) }) };
}
