/** ResourceQuota. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, invalid, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { immutableReason } from '../shared/checks.ts';
import { compareQuantities } from '../../values/quantity.ts';
import { entry, isSet, mapOf, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { isStandardQuotaResource, quotaResourceNameErrors, resourceQuantityErrors } from '../shared/resource-names.ts';

const computeResources = ['cpu', 'memory'].flatMap((name) => [name, `limits.${name}`, `requests.${name}`]);
const podResources = new Set(['pods', ...computeResources]);
const countsPods = new Set(['pods']);
const claimResources = new Set(['persistentvolumeclaims', 'requests.storage']);

/** Scopes, and the resources that can be counted in each. */
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Terminating', podResources],
  ['NotTerminating', podResources],
  ['NotBestEffort', podResources],
  ['PriorityClass', podResources],
  ['CrossNamespacePodAffinity', podResources],
  ['BestEffort', countsPods],
  ['VolumeAttributesClass', claimResources],
]);
const existOnly = new Set([
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
]);

/** Each error includes the whole list: the number of errors is limited. */
const scopesMax = 16;
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

const quantitiesErrors = (path: string, quantities: Readonly<Record<string, string>>): FieldError[] =>
  Object.keys(quantities).flatMap((name) => [
    ...quotaResourceNameErrors(key(path, name), name),
    ...resourceQuantityErrors(key(path, name), name, quantities[name]!),
  ]);

function specErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const hard = mapOf(spec, 'hard');
  return [...quantitiesErrors('spec.hard', hard), ...scopeErrors(spec, hard), ...selectorErrors(spec, hard)];
}

/** Resources of the quota that this scope does not support, in order. */
const unknownIn = (scope: string, hard: Readonly<Record<string, string>>): string[] =>
  Object.keys(hard)
    .sort()
    .filter((name) => isStandardQuotaResource(name) && scopes.get(scope)?.has(name) === false)
    .slice(0, scopesMax);

const hasConflict = (names: readonly string[]): boolean[] =>
  conflicts.filter((pair) => pair.every((name) => names.includes(name))).map(() => true);

function scopeErrors(spec: JsonObject, hard: Readonly<Record<string, string>>): FieldError[] {
  const path = 'spec.scopes';
  const list = textsOf(spec, 'scopes');
  const refuse = (rule: string): FieldError => invalid(path, list, rule);
  return [
    ...list
      .slice(0, scopesMax)
      .flatMap((scope) => [
        ...(scopes.has(scope) ? [] : [refuse('unsupported scope')]),
        ...unknownIn(scope, hard).map(() => refuse('unsupported scope applied to resource')),
      ]),
    ...hasConflict(list).map(() => refuse('conflicting scopes')),
  ];
}

const existRule =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function selectorErrors(spec: JsonObject, hard: Readonly<Record<string, string>>): FieldError[] {
  const selector = optionalStruct(spec, 'scopeSelector');
  if (!selector) return [];
  const path = 'spec.scopeSelector.matchExpressions';
  const expressions = structsOf(selector, 'matchExpressions');
  const errors = expressions.slice(0, scopesMax).flatMap((expression) => {
    const [scope, operator] = [textOf(expression, 'scopeName'), textOf(expression, 'operator')];
    return [
      ...(scopes.has(scope) ? [] : [invalid(child(path, 'scopeName'), scope, 'unsupported scope')]),
      ...unknownIn(scope, hard).map(() =>
        invalid(path, shownSelector(selector), 'unsupported scope applied to resource'),
      ),
      ...(existOnly.has(scope) && operator !== 'Exists' ? [invalid(child(path, 'operator'), operator, existRule)] : []),
      ...operatorErrors(path, operator, textsOf(expression, 'values')),
    ];
  });
  const names = expressions.map((expression) => textOf(expression, 'scopeName'));
  // Kubernetes shows the other list here.
  const shown = isSet(spec, 'scopes') ? textsOf(spec, 'scopes') : null;
  return [...errors, ...hasConflict(names).map(() => invalid(path, shown, 'conflicting scopes'))];
}

function operatorErrors(path: string, operator: string, values: readonly string[]): FieldError[] {
  const valuesPath = child(path, 'values');
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const rule = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return values.length === 0 ? [required(valuesPath, rule)] : [];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const rule = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return values.length === 0 ? [] : [invalid(valuesPath, values, rule)];
    }
    default:
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')];
  }
}

const shownSelector = (selector: JsonObject): JsonObject => ({
  MatchExpressions: structsOf(selector, 'matchExpressions').map((expression) => ({
    ScopeName: textOf(expression, 'scopeName'),
    Operator: textOf(expression, 'operator'),
    Values: isSet(expression, 'values') ? expression['values'] : null,
  })),
});

function statusErrors(object: KubeObject): FieldError[] {
  const status = structOf(object, 'status');
  return ['hard', 'used'].flatMap((field) => quantitiesErrors(child('status', field), mapOf(status, field)));
}

function updateErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const list = textsOf(structOf(object, 'spec'), 'scopes');
  const [now, before] = [new Set(list), new Set(textsOf(structOf(old, 'spec'), 'scopes'))];
  const isSame = now.symmetricDifference(before).size === 0;
  const shown = isSet(structOf(object, 'spec'), 'scopes') ? list : null;
  return [...specErrors(object), ...(isSame ? [] : [invalid('spec.scopes', shown, immutableReason)])];
}

/** Warns about a request above its limit, which can never be used. */
function quotaWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  if (old) return [];
  const hard = mapOf(structOf(object, 'spec'), 'hard');
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    const mayBeBare = resource === 'cpu' || resource === 'memory';
    const isBare = mayBeBare && !Object.hasOwn(hard, `requests.${resource}`);
    const requestName = isBare ? resource : `requests.${resource}`;
    const [request, limit] = [entry(hard, requestName), entry(hard, `limits.${resource}`)];
    if (request === undefined || limit === undefined || compareQuantities(request, limit) <= 0) return [];
    return [`ResourceQuota ${requestName} (${request}) should be less than limits.${resource} (${limit})`];
  });
}

export const resourceQuota: KindValidation = {
  create: (object) => [...specErrors(object), ...statusErrors(object)],
  update: (object, old, subresource) => (subresource === 'status' ? statusErrors(object) : updateErrors(object, old)),
  warnings: quotaWarnings,
};
