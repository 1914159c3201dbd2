/** Fields that nobody comes to own: what the server sets itself, and what a write of a subresource cannot change. */

import type { FieldSet } from './field-set.ts';
import { difference, differenceBelow, fieldSetOf, isMember, nodeOf, noFields } from './field-set.ts';

const serverFields = fieldSetOf([
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'metadata.uid',
  'metadata.clusterName',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
]);

export const withoutServerFields = (fields: FieldSet): FieldSet => difference(fields, serverFields);

export interface FieldFilter {
  /** Dotted paths: these and all below them are given up. */
  readonly resetFields: readonly string[];
  /** Dotted paths, `*` is any one step: when given, all else is given up. */
  readonly onlyFields?: readonly string[] | undefined;
}

const resetSets = new WeakMap<readonly string[], FieldSet>();

export function filterFields(fields: FieldSet, { resetFields, onlyFields }: FieldFilter): FieldSet {
  let kept = fields;
  if (resetFields.length > 0) {
    let reset = resetSets.get(resetFields);
    if (!reset) resetSets.set(resetFields, (reset = fieldSetOf(resetFields)));
    kept = differenceBelow(kept, reset);
  }
  return onlyFields
    ? keepOnly(
        kept,
        onlyFields.map((path) => path.split('.')),
      )
    : kept;
}

const keepOnly = (fields: FieldSet, patterns: readonly (readonly string[])[]): FieldSet =>
  keep(fields, patterns, false) ?? noFields;

function keep(fields: FieldSet, patterns: readonly (readonly string[])[], isSelf: boolean): FieldSet | undefined {
  if (patterns.some(({ length }) => length === 0)) return fields;
  const elements: string[] = [];
  const children: FieldSet[] = [];
  for (const element in fields) {
    if (element === '.') continue;
    const matching = patterns.filter(([head]) => head === '*' || `f:${head}` === element);
    if (matching.length === 0) continue;
    const node = fields[element]!;
    const kept = keep(
      node,
      matching.map((pattern) => pattern.slice(1)),
      isMember(node),
    );
    if (kept === undefined) continue;
    elements.push(element);
    children.push(kept);
  }
  return nodeOf(isSelf, elements, children);
}
