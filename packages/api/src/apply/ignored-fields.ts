/** Fields without an owner: those that the server sets itself, and those that a write of a subresource cannot change. */

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

/** Results by the set that they were made of: objects with the same fields have the same set (`known-nodes.ts`). */
type Results = WeakMap<FieldSet, FieldSet>;

function resultOf(results: Results, fields: FieldSet, compute: () => FieldSet): FieldSet {
  let result = results.get(fields);
  if (!result) results.set(fields, (result = compute()));
  return result;
}

const withoutServer: Results = new WeakMap();

/** Returns a frozen set for one that objects share, because they share the result, too. */
export const withoutServerFields = (fields: FieldSet): FieldSet =>
  resultOf(withoutServer, fields, () => {
    const rest = difference(fields, serverFields);
    return Object.isFrozen(fields) ? frozen(rest) : rest;
  });

/** Everything below a frozen node is frozen. */
function frozen(set: FieldSet): FieldSet {
  if (Object.isFrozen(set)) return set;
  for (const element in set) frozen(set[element]!);
  return Object.freeze(set);
}

export interface FieldFilter {
  /** Dotted paths: these and all below them are ignored. */
  readonly resetFields: readonly string[];
  /** Dotted paths, `*` is any one step: if given, all others are ignored. */
  readonly onlyFields?: readonly string[] | undefined;
}

const resets = new WeakMap<readonly string[], { readonly set: FieldSet; readonly results: Results }>();

export function filterFields(fields: FieldSet, { resetFields, onlyFields }: FieldFilter): FieldSet {
  let kept = fields;
  if (resetFields.length > 0) {
    let reset = resets.get(resetFields);
    if (!reset) resets.set(resetFields, (reset = { set: fieldSetOf(resetFields), results: new WeakMap() }));
    const { set, results } = reset;
    kept = resultOf(results, fields, () => differenceBelow(fields, set));
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
