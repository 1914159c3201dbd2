/**
 * Checks every schema of a definition, node by node: allowed keywords, combinations of the x-kubernetes- extensions, and the validation
 * rules. Errors of the schemas come first, then those of the expressions.
 */

import { child, forbidden, index, invalid, key, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { additionalOf, entriesOf, isSet, itemsOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { listErrors } from './list-rules.ts';
import { expressionErrors, ruleFormErrors } from './rule-rules.ts';
import type { ExpressionScope } from './rule-rules.ts';

/** Context of a schema. */
interface Surroundings {
  /** Reason why defaults are not allowed here; undefined if they are. */
  readonly noDefaults: string | undefined;
  /** Inside apiVersion, kind or metadata of a resource. */
  readonly isMeta: boolean;
  /** The nearest schema above whose parts cannot be correlated in an update. */
  readonly uncorrelatable: string | undefined;
}

interface Errors {
  readonly schema: FieldError[];
  readonly expression: FieldError[];
}

/** `scope` is undefined if expressions are not checked: the schema is not structural. */
export function schemaErrors(schema: JsonSchema, path: string, scope: ExpressionScope | undefined): FieldError[] {
  const errors: Errors = { schema: [], expression: [] };
  const top: Surroundings = { noDefaults: undefined, isMeta: false, uncorrelatable: undefined };
  visit(schema, path, { here: top, isRoot: true, scope }, errors);
  return [...errors.schema, ...errors.expression];
}

interface Visit {
  readonly here: Surroundings;
  readonly isRoot: boolean;
  readonly scope: ExpressionScope | undefined;
}

const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

function visit(schema: JsonSchema, path: string, { here, isRoot, scope }: Visit, errors: Errors): void {
  const known = errors.schema.length;
  keywordErrors(schema, here, path, errors.schema);
  visitAdditional(schema, path, here, scope, errors);
  for (const [name, part] of entriesOf(schema.properties)) {
    const isMeta = (isRoot || (schema['x-kubernetes-embedded-resource'] ?? false)) && metaFields.has(name);
    const mapType = schema['x-kubernetes-map-type'] ?? undefined;
    const isFollowed = mapType === undefined || mapType === 'granular' || mapType === 'atomic';
    const inner: Surroundings = {
      noDefaults: isMeta && isRoot ? `in top-level ${name}` : here.noDefaults,
      isMeta: here.isMeta || isMeta,
      uncorrelatable: here.uncorrelatable ?? (isFollowed ? undefined : path),
    };
    const partPath = key(child(path, 'properties'), name);
    visit(part, partPath, { here: inner, isRoot: false, scope: scope?.field(name, part) }, errors);
  }
  visitAlternatives(schema, path, here, errors);
  visitItems(schema, path, here, scope, errors);
  listErrors(schema, path, errors.schema);
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return;
  ruleFormErrors(schema, child(path, 'x-kubernetes-validations'), errors.schema);
  // If the schema is invalid, here or below, its type would be a guess.
  if (errors.schema.length === known && scope !== undefined) {
    const at = child(path, 'x-kubernetes-validations');
    expressionErrors(schema, at, { uncorrelatable: here.uncorrelatable, scope }, errors.expression);
  }
}

function visitAdditional(
  schema: JsonSchema,
  path: string,
  here: Surroundings,
  scope: ExpressionScope | undefined,
  errors: Errors,
): void {
  const { additionalProperties: given } = schema;
  if (!isSet(given)) return;
  if (entriesOf(schema.properties).length > 0 && given !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.schema.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  const part = additionalOf(schema);
  if (part === undefined) return;
  const noDefaults = here.isMeta ? 'inside additionalProperties applying to object metadata' : here.noDefaults;
  const inner = { ...here, noDefaults };
  visit(part, child(path, 'additionalProperties'), { here: inner, isRoot: false, scope: scope?.element(part) }, errors);
}

function visitAlternatives(schema: JsonSchema, path: string, here: Surroundings, errors: Errors): void {
  const plain: Visit = { here, isRoot: false, scope: undefined };
  if (isSet(schema.not)) visit(schema.not, child(path, 'not'), plain, errors);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, part] of (schema[name] ?? []).entries()) visit(part, index(child(path, name), i), plain, errors);
  }
  for (const [name, part] of entriesOf(schema.definitions))
    visit(part, key(child(path, 'definitions'), name), plain, errors);
  for (const [name, part] of entriesOf(schema.dependencies)) {
    if (!Array.isArray(part)) visit(part as JsonSchema, key(child(path, 'dependencies'), name), plain, errors);
  }
}

function visitItems(
  schema: JsonSchema,
  path: string,
  here: Surroundings,
  scope: ExpressionScope | undefined,
  errors: Errors,
): void {
  if (!isSet(schema.items)) return;
  // Items of a map are identified by their keys; those of other lists have no identity.
  const isFollowed = schema['x-kubernetes-list-type'] === 'map';
  const inner = { ...here, uncorrelatable: here.uncorrelatable ?? (isFollowed ? undefined : path) };
  const items = itemsOf(schema);
  if (items !== undefined) {
    visit(items, child(path, 'items'), { here: inner, isRoot: false, scope: scope?.element(items) }, errors);
    return;
  }
  for (const [i, part] of (schema.items as readonly JsonSchema[]).entries()) {
    visit(part, index(child(path, 'items'), i), { here: inner, isRoot: false, scope: scope?.element(part) }, errors);
  }
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function keywordErrors(schema: JsonSchema, here: Surroundings, path: string, errors: FieldError[]): void {
  const type = schema.type ?? '';
  const refuse = (name: string, detail = `${name} is not supported`): void => {
    errors.push(forbidden(child(path, name), detail));
  };
  if (type !== '' && !types.includes(type)) errors.push(notSupported(child(path, 'type'), type, types));
  if (isSet(schema.default) && here.noDefaults !== undefined) refuse('default', `must not be set ${here.noDefaults}`);
  if (schema.id) refuse('id');
  if (isSet(schema.additionalItems)) refuse('additionalItems');
  if (entriesOf(schema.patternProperties).length > 0) refuse('patternProperties');
  if (entriesOf(schema.definitions).length > 0) refuse('definitions');
  if (isSet(schema.dependencies)) refuse('dependencies');
  if (isSet(schema.$ref)) refuse('$ref');
  if (type === 'null') refuse('type', 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    refuse('items', 'items must be a schema object and not an array');
  }
  if (here.isMeta && schema['x-kubernetes-embedded-resource']) {
    refuse('x-kubernetes-embedded-resource', 'must not be used inside of resource meta');
  }
  if (schema.uniqueItems) {
    refuse('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  const mapType = schema['x-kubernetes-map-type'] ?? undefined;
  if (mapType === undefined) return;
  if (type !== 'object') {
    const detail = 'must be object if x-kubernetes-map-type is specified';
    errors.push(type === '' ? required(child(path, 'type'), detail) : invalid(child(path, 'type'), type, detail));
  }
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
}
