/**
 * A structural schema prepared for use: names in maps, and for each node what the schema below it contains, so that a walk over an object
 * skips the parts without work.
 */

import { additionalOf, entriesOf, isSet, itemsOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';

export interface SchemaNode {
  readonly schema: JsonSchema;
  readonly type: string;
  readonly isNullable: boolean;
  /** Undefined if there is none; null counts as none. */
  readonly defaultValue: unknown;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Properties with their own default. */
  readonly defaulted: readonly (readonly [string, SchemaNode])[];
  /** `additionalProperties` is set, possibly to a boolean. */
  readonly allowsOthers: boolean;
  readonly others: SchemaNode | undefined;
  readonly items: SchemaNode | undefined;
  readonly keepsUnknown: boolean;
  readonly isEmbedded: boolean;
  readonly listType: string;
  readonly listKeys: readonly string[];
  /** This node or one below it has … */
  readonly hasDefaults: boolean;
  readonly hasUniqueLists: boolean;
  readonly hasEmbedded: boolean;
  readonly hasRules: boolean;
  readonly hasNullable: boolean;
}

const noProperties: ReadonlyMap<string, SchemaNode> = new Map();

export function schemaNode(schema: JsonSchema): SchemaNode {
  const entries = entriesOf(schema.properties).map(([name, part]) => [name, schemaNode(part)] as const);
  const additional = additionalOf(schema);
  const others = additional && schemaNode(additional);
  const itemSchema = itemsOf(schema);
  const items = itemSchema && schemaNode(itemSchema);
  const below = [...entries.map(([, node]) => node), ...(others ? [others] : []), ...(items ? [items] : [])];
  const defaultValue = schema.default ?? undefined;
  const listType = schema['x-kubernetes-list-type'] ?? '';
  const isEmbedded = schema['x-kubernetes-embedded-resource'] ?? false;
  return {
    schema,
    type: schema.type ?? '',
    isNullable: schema.nullable ?? false,
    defaultValue,
    properties: entries.length === 0 ? noProperties : new Map(entries),
    defaulted: entries.filter(([, node]) => node.defaultValue !== undefined),
    allowsOthers: isSet(schema.additionalProperties),
    others,
    items,
    keepsUnknown: schema['x-kubernetes-preserve-unknown-fields'] ?? false,
    isEmbedded,
    listType,
    listKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    hasDefaults: defaultValue !== undefined || below.some((node) => node.hasDefaults),
    hasUniqueLists: listType === 'set' || listType === 'map' || below.some((node) => node.hasUniqueLists),
    hasEmbedded: isEmbedded || below.some((node) => node.hasEmbedded),
    hasRules: (schema['x-kubernetes-validations']?.length ?? 0) > 0 || below.some((node) => node.hasRules),
    hasNullable: (schema.nullable ?? false) || below.some((node) => node.hasNullable),
  };
}

/** Returns the schema of one field of an object: its own, else that of additional properties. */
export const fieldNode = (node: SchemaNode, name: string): SchemaNode | undefined =>
  node.properties.get(name) ?? node.others;
