/** Checks that defaults are valid values: known fields only, valid by the schema, and by its rules. */

import { once } from '@hangar/cel';
import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { child, fieldErrorText, forbidden, invalid, key } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { runRules } from '../rules/evaluate.ts';
import { RuleNode } from '../rules/rule-tree.ts';
import { cloneJson, deepEqual, sorted } from '../structural/canonical.ts';
import { defaultedBytesMax, defaultedNodesMax, defaultSizeOf, isTooLarge } from '../structural/default-size.ts';
import { coerceEmbedded, embeddedErrors } from '../structural/embedded.ts';
import { schemaNode } from '../structural/node.ts';
import type { SchemaNode } from '../structural/node.ts';
import { pruneUnknown } from '../structural/prune.ts';
import { valueErrors } from '../values/check.ts';
import { ValuePlan } from '../values/plan.ts';
import type { JsonSchema } from '../json-schema.ts';

/** Puts a value into the resource that it would be part of. */
type Surround = (value: unknown) => JsonObject;

const asResource: Surround = (value) => {
  const object: JsonObject = isObject(value) ? { ...value } : {};
  return { kind: 'Validation', apiVersion: 'validation/v1', ...object };
};

export interface DefaultOptions {
  /** The schema was accepted before: defaults that multiply are refused with the objects that they are filled into. */
  readonly mayMultiply: boolean;
}

export function defaultErrors(schema: JsonSchema, path: string, { mayMultiply }: DefaultOptions): FieldError[] {
  const node: SchemaNode = { ...schemaNode(schema), isEmbedded: true, hasEmbedded: true };
  const errors: FieldError[] = [];
  const place: Place = { resource: node, surround: asResource, isMeta: false };
  if (node.hasDefaults) visit(node, path, place, errors);
  if (node.hasDefaults && !mayMultiply && errors.length === 0) sizeErrors(node, path, errors);
  return errors;
}

/** A default that becomes too large with the defaults below it, each named once: not those that contain it. */
function sizeErrors(node: SchemaNode, path: string, errors: FieldError[]): void {
  if (!node.hasDefaults) return;
  const before = errors.length;
  if (node.items !== undefined) sizeErrors(node.items, child(path, 'items'), errors);
  if (node.others !== undefined) sizeErrors(node.others, child(path, 'additionalProperties'), errors);
  for (const [name, part] of node.properties) sizeErrors(part, key(child(path, 'properties'), name), errors);
  if (errors.length > before || node.defaultValue === undefined || !isTooLarge(defaultSizeOf(node))) return;
  const detail = `must not add more than ${defaultedNodesMax} values or ${defaultedBytesMax} bytes with the defaults below it`;
  errors.push(forbidden(child(path, 'default'), detail));
}

interface Place {
  /** The resource that the value belongs to. */
  readonly resource: SchemaNode;
  readonly surround: Surround;
  /** Inside apiVersion, kind or metadata of that resource. */
  readonly isMeta: boolean;
}

function visit(node: SchemaNode, path: string, outer: Place, errors: FieldError[]): void {
  if (!node.hasDefaults) return;
  const place = node.isEmbedded ? { resource: node, surround: asResource, isMeta: false } : outer;
  if (node.defaultValue !== undefined) errors.push(...valueProblems(node, child(path, 'default'), place));
  const { surround } = place;
  if (node.items !== undefined) {
    visit(node.items, child(path, 'items'), { ...place, surround: (value) => surround([value]) }, errors);
  }
  for (const [name, part] of node.properties) {
    const isMeta = place.isMeta || (node.isEmbedded && ['metadata', 'apiVersion', 'kind'].includes(name));
    const inner: Place = { ...place, isMeta, surround: (value) => surround(Object.fromEntries([[name, value]])) };
    visit(part, key(child(path, 'properties'), name), inner, errors);
  }
}

function valueProblems(node: SchemaNode, path: string, place: Place): FieldError[] {
  const value = cloneJson(node.defaultValue);
  const shown = sorted(node.defaultValue);
  const errors: FieldError[] = [];
  if (place.isMeta) {
    const problem = metadataProblem(place, value);
    if (problem !== undefined) return [invalid(path, shown, `must result in valid metadata: ${problem}`)];
  } else {
    if (hasUnknown(node)) errors.push(invalid(path, shown, 'must not have unknown fields'));
    const { error } = coerceEmbedded(value, node, path);
    if (error !== undefined) return [...errors, error];
    const embedded = embeddedErrors(value, node, path);
    if (embedded.length > 0) return [...errors, ...embedded];
  }
  const wrong = valueErrors(new ValuePlan(node.schema, { asWritten: true }), value, path);
  return [...errors, ...(wrong.length > 0 ? wrong : ruleProblems(node, value, path, node === place.resource))];
}

function hasUnknown(node: SchemaNode): boolean {
  const copy = cloneJson(node.defaultValue);
  pruneUnknown(copy, node, node.isEmbedded);
  return !deepEqual(copy, node.defaultValue);
}

function metadataProblem({ resource, surround }: Place, value: unknown): string | undefined {
  const object = surround(value);
  const { error } = coerceEmbedded(object, resource);
  if (error !== undefined) return fieldErrorText(error);
  const texts = embeddedErrors(object, resource).map(fieldErrorText);
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
}

/**
 * Evaluates an update that changes nothing, and a creation: rules may distinguish the two. Compiled rules and outcomes are kept for all
 * attempts: see `inSlices`.
 */
function ruleProblems(node: SchemaNode, value: unknown, path: string, isRoot: boolean): FieldError[] {
  if (!node.hasRules) return [];
  const rules = once(() => new RuleNode(node, isRoot));
  const errors = once((budget) => runRules(rules, value, { path, old: value, budget }).errors);
  return errors.length > 0 ? errors : once((budget) => runRules(rules, value, { path, budget }).errors);
}
