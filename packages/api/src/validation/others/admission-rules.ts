/** Rules of webhooks and admission policies: operations on resources, and conditions. */

import type { JsonObject } from '../../object.ts';
import { child, duplicate, index, invalid, required, tooMany } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { invalidFor, oneOfErrors, pathSegmentReasons, qualifiedNameErrors, repeatedIn } from '../shared/checks.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { isSet, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { compileExpression, problemErrors } from './expressions.ts';

export const failurePolicies = ['Fail', 'Ignore'];
export const matchPolicies = ['Equivalent', 'Exact'];
export const reinvocationPolicies = ['IfNeeded', 'Never'];
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

/** Reports whether there are several values of which one is `*`. */
const isMixed = (values: readonly string[]): boolean => values.length > 1 && values.includes('*');

export function ruleErrors(path: string, rule: JsonObject): FieldError[] {
  const list = textsOf(rule, 'operations');
  const operationsPath = child(path, 'operations');
  return [
    ...(list.length === 0 ? [required(operationsPath, '')] : []),
    ...(isMixed(list) ? [invalid(operationsPath, list, "if '*' is present, must not specify other operations")] : []),
    ...list.flatMap((operation, at) => oneOfErrors(index(operationsPath, at), operation, operations)),
    ...targetErrors(path, rule),
  ];
}

function targetErrors(path: string, rule: JsonObject): FieldError[] {
  const [groups, versions] = [textsOf(rule, 'apiGroups'), textsOf(rule, 'apiVersions')];
  const [groupsPath, versionsPath] = [child(path, 'apiGroups'), child(path, 'apiVersions')];
  const mixed = (what: string): string => `if '*' is present, must not specify other API ${what}`;
  return [
    ...(groups.length === 0 ? [required(groupsPath, '')] : []),
    ...(isMixed(groups) ? [invalid(groupsPath, groups, mixed('groups'))] : []),
    ...(versions.length === 0 ? [required(versionsPath, '')] : []),
    ...(isMixed(versions) ? [invalid(versionsPath, versions, mixed('versions'))] : []),
    ...versions.flatMap((version, at) => (version === '' ? [required(index(versionsPath, at), '')] : [])),
    ...resourcesErrors(child(path, 'resources'), textsOf(rule, 'resources')),
    ...(isSet(rule, 'scope') ? oneOfErrors(child(path, 'scope'), textOf(rule, 'scope'), scopes) : []),
  ];
}

// `pods`, `pods/status`, `pods/*`, `*`, `*/status`: none that another one covers already.
function resourcesErrors(path: string, resources: readonly string[]): FieldError[] {
  const errors = resources.length === 0 ? [required(path, '')] : [];
  const [wholeResources, wholeSubresources] = [new Set<string>(), new Set<string>()];
  let endsInPlain = false;
  resources.forEach((text, at) => {
    if (text === '') {
      errors.push(required(index(path, at), ''));
      return;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      endsInPlain = text !== '*';
      return;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    const refuse = (other: string): number =>
      errors.push(invalid(index(path, at), text, `if '${other}' is present, must not specify ${text}`));
    if (wholeResources.has(resource)) refuse(`${resource}/*`);
    if (wholeSubresources.has(subresource)) refuse(`*/${subresource}`);
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && endsInPlain) {
    const rule = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(path, resources, rule));
  }
  return errors;
}

export function matchResourcesErrors(path: string, match: JsonObject | undefined): FieldError[] {
  if (!match) return [];
  const selectors = ['namespaceSelector', 'objectSelector'].flatMap((field) => {
    const selector = optionalStruct(match, field);
    return selector ? labelSelectorErrors(child(path, field), selector) : [required(child(path, field), '')];
  });
  const policyPath = child(path, 'matchPolicy');
  return [
    ...(isSet(match, 'matchPolicy')
      ? oneOfErrors(policyPath, textOf(match, 'matchPolicy'), matchPolicies)
      : [required(policyPath, '')]),
    ...selectors,
    ...['resourceRules', 'excludeResourceRules'].flatMap((field) =>
      structsOf(match, field).flatMap((rule, at) => namedRuleErrors(index(child(path, field), at), rule)),
    ),
  ];
}

function namedRuleErrors(path: string, rule: JsonObject): FieldError[] {
  const names = textsOf(rule, 'resourceNames');
  const repeated = repeatedIn(names);
  const nameErrors = names.flatMap((name, at) => {
    const namePath = index(child(path, 'resourceNames'), at);
    const errors = invalidFor(namePath, name, pathSegmentReasons(name));
    return repeated.has(at) ? [...errors, duplicate(namePath, name)] : errors;
  });
  return [...nameErrors, ...ruleErrors(path, rule)];
}

const conditionsMax = 64;

export function matchConditionsErrors(
  path: string,
  conditions: readonly JsonObject[],
  hasParams: boolean,
): FieldError[] {
  const names = new Set<string>();
  const errors = conditions.length > conditionsMax ? [tooMany(path, conditions.length, conditionsMax)] : [];
  conditions.forEach((condition, at) => {
    const name = textOf(condition, 'name');
    errors.push(...conditionErrors(index(path, at), condition, hasParams));
    if (name !== '' && names.has(name)) errors.push(duplicate(child(index(path, at), 'name'), name));
    names.add(name);
  });
  return errors;
}

function conditionErrors(path: string, condition: JsonObject, hasParams: boolean): FieldError[] {
  const [text, name] = [textOf(condition, 'expression').trim(), textOf(condition, 'name')];
  const [textPath, namePath] = [child(path, 'expression'), child(path, 'name')];
  return [
    ...(text === ''
      ? [required(textPath, '')]
      : problemErrors(textPath, text, compileExpression(text, 'condition', { hasParams, hasAuthorizer: true }))),
    ...(name === '' ? [required(namePath, '')] : qualifiedNameErrors(namePath, name)),
  ];
}

/** Checks the operations of a mutating policy: a deleted object cannot be changed. */
export function mutatingOperationErrors(path: string, match: JsonObject): FieldError[] {
  const allowed = operations.filter((operation) => operation !== 'DELETE');
  return structsOf(match, 'resourceRules').flatMap((rule) =>
    textsOf(rule, 'operations').flatMap((one) => oneOfErrors(`${path}.resourceRules.operations`, one, allowed)),
  );
}

export function paramRefErrors(path: string, spec: JsonObject): FieldError[] {
  const reference = optionalStruct(spec, 'paramRef');
  if (!reference) return [];
  const [name, selector] = [textOf(reference, 'name'), optionalStruct(reference, 'selector')];
  const both = name !== '' && selector !== undefined;
  const exclusive = (field: string): FieldError => ({
    type: 'FieldValueForbidden',
    path: child(path, field),
    value: undefined,
    detail: 'name and selector are mutually exclusive',
  });
  const action = textOf(reference, 'parameterNotFoundAction');
  const actionPath = child(path, 'parameterNotFoundAction');
  return [
    ...(name === '' ? [] : invalidFor(child(path, 'name'), name, pathSegmentReasons(name))),
    ...(both ? [exclusive('name')] : []),
    ...labelSelectorErrors(child(path, 'selector'), selector),
    ...(both ? [exclusive('selector')] : []),
    ...(name === '' && !selector ? [required(path, 'one of name or selector must be specified')] : []),
    ...(action === '' ? [required(actionPath, '')] : oneOfErrors(actionPath, action, ['Deny', 'Allow'])),
  ];
}

/** Kind of the parameter objects. */
export const paramKindOf = (spec: JsonObject): JsonObject | undefined => optionalStruct(spec, 'paramKind');
export const hasResourceRules = (spec: JsonObject): boolean =>
  structsOf(structOf(spec, 'matchConstraints'), 'resourceRules').length > 0;
