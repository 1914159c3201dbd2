/**
 * Removes unknown fields, unless the schema keeps them. At the root and in embedded resources `apiVersion`, `kind` and `metadata` are
 * always known.
 */

import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import type { SchemaNode } from './node.ts';

/** Removes from `object`, the root of a resource when `isRoot`; returns the paths, sorted, such as `spec.list[0].foo`. */
export function pruneUnknown(object: unknown, node: SchemaNode | undefined, isRoot: boolean): string[] {
  const removed: string[] = [];
  if (node?.keepsUnknown) keep(object, node, '', removed, isRoot);
  else prune(object, node, '', removed, isRoot);
  return removed.length > 1 ? removed.sort() : removed;
}

const isMeta = (name: string): boolean => name === 'metadata' || name === 'kind' || name === 'apiVersion';

function prune(
  value: unknown,
  node: SchemaNode | undefined,
  path: string,
  removed: string[],
  isResource = node?.isEmbedded ?? false,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (node?.keepsUnknown) {
    keep(value, node, path, removed);
  } else if (Array.isArray(value)) {
    const items = node?.items;
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === 'object' && item !== null) prune(item, items, `${path}[${i}]`, removed);
    }
  } else {
    pruneFields(value as JsonObject, node, path, removed, isResource);
  }
}

function pruneFields(
  object: JsonObject,
  node: SchemaNode | undefined,
  path: string,
  removed: string[],
  isResource: boolean,
): void {
  for (const name of Object.keys(object)) {
    if (isResource && isMeta(name)) continue;
    const field = node?.properties.get(name);
    if (field === undefined && !node?.allowsOthers) {
      removed.push(path === '' ? name : `${path}.${name}`);
      delete object[name];
      continue;
    }
    const value = object[name];
    if (typeof value === 'object' && value !== null) {
      prune(value, field ?? node?.others, path === '' ? name : `${path}.${name}`, removed);
    }
  }
}

/** Under `x-kubernetes-preserve-unknown-fields`: unknown fields stay, but known ones are pruned inside as usual. */
function keep(value: unknown, node: SchemaNode, path: string, removed: string[], isResource = node.isEmbedded): void {
  if (Array.isArray(value)) {
    if (node.items === undefined) return;
    for (let i = 0; i < value.length; i++) keep(value[i], node.items, `${path}[${i}]`, removed);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      if (isResource && isMeta(name)) continue;
      const field = node.properties.get(name);
      if (field === undefined && !node.allowsOthers) continue;
      prune(value[name], field ?? node.others, path === '' ? name : `${path}.${name}`, removed);
    }
  }
}
