/** LimitRange. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, forbidden, index, invalid, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { qualifiedNameErrors } from '../shared/checks.ts';
import { millisOf } from '../shared/quantities.ts';
import { compareQuantities } from '../../values/quantity.ts';
import { entry, mapOf, structOf, structsOf, textOf } from '../shared/read.ts';
import { containerResourceNameErrors, isOvercommitAllowed, resourceNameErrors } from '../shared/resource-names.ts';

type Quantities = Readonly<Record<string, string>>;

const standardTypes = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);

function create(object: KubeObject): FieldError[] {
  const types = new Set<string>();
  return structsOf(structOf(object, 'spec'), 'limits').flatMap((limit, at) => {
    const path = index('spec.limits', at);
    const type = textOf(limit, 'type');
    const repeated = types.has(type) ? [duplicate(child(path, 'type'), type)] : [];
    types.add(type);
    return [...typeErrors(child(path, 'type'), type), ...repeated, ...limitErrors(path, limit, type)];
  });
}

function typeErrors(path: string, type: string): FieldError[] {
  const errors = qualifiedNameErrors(path, type);
  if (errors.length > 0 || type.includes('/') || standardTypes.has(type)) return errors;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
}

function limitErrors(path: string, limit: JsonObject, type: string): FieldError[] {
  const isPod = type === 'Pod';
  const nameErrors = isPod || type === 'Container' ? containerResourceNameErrors : resourceNameErrors;
  const errors: FieldError[] = [];
  const read = (field: string): Quantities => {
    const quantities = mapOf(limit, field);
    for (const name of Object.keys(quantities)) errors.push(...nameErrors(key(child(path, field), name), name));
    return quantities;
  };
  const [max, min] = [read('max'), read('min')];
  const defaults: Quantities[] = ['default', 'defaultRequest'].map((field) => {
    if (!isPod) return read(field);
    if (Object.keys(mapOf(limit, field)).length > 0) {
      errors.push(forbidden(child(path, field), "may not be specified when `type` is 'Pod'"));
    }
    return {};
  });
  if (type === 'PersistentVolumeClaim' && !Object.hasOwn(min, 'storage') && !Object.hasOwn(max, 'storage')) {
    const rule = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(child(path, 'limits'), rule));
  }
  const ratio = read('maxLimitRequestRatio');
  const lists = { min, max, default: defaults[0]!, defaultRequest: defaults[1]!, ratio };
  const names = new Set(Object.values(lists).flatMap((list) => Object.keys(list)));
  return [...errors, ...[...names].flatMap((name) => resourceErrors(path, name, lists))];
}

type Lists = Readonly<Record<'min' | 'max' | 'default' | 'defaultRequest' | 'ratio', Quantities>>;

/** A quantity that must not exceed another: the reported field and value, and their names. */
const orders = [
  ['min', 'max', 'min', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest', 'default request value', 'max value'],
  ['defaultRequest', 'default', 'defaultRequest', 'defaultRequest', 'default request value', 'default limit value'],
  ['min', 'default', 'default', 'min', 'min value', 'default value'],
  ['default', 'max', 'default', 'max', 'default value', 'max value'],
] as const;

function resourceErrors(path: string, name: string, lists: Lists): FieldError[] {
  const errors: FieldError[] = [];
  for (const [lower, upper, field, shown, lowerText, upperText] of orders) {
    const [low, high] = [entry(lists[lower], name), entry(lists[upper], name)];
    if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) continue;
    const rule = `${lowerText} ${low} is greater than ${upperText} ${high}`;
    errors.push(invalid(key(child(path, field), name), entry(lists[shown], name), rule));
  }
  errors.push(...ratioErrors(key(child(path, 'maxLimitRequestRatio'), name), name, lists));
  const [limit, request] = [entry(lists.default, name), entry(lists.defaultRequest, name)];
  const mustMatch = limit !== undefined && request !== undefined && !isOvercommitAllowed(name);
  if (mustMatch && compareQuantities(limit, request) !== 0) {
    const rule = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    errors.push(invalid(key(child(path, 'defaultRequest'), name), request, rule));
  }
  return errors;
}

function ratioErrors(path: string, name: string, { min, max, ratio }: Lists): FieldError[] {
  const [factor, low, high] = [entry(ratio, name), entry(min, name), entry(max, name)];
  if (factor === undefined) return [];
  const errors = compareQuantities(factor, '1') < 0 ? [invalid(path, factor, `ratio ${factor} is less than 1`)] : [];
  if (low === undefined || high === undefined) return errors;
  const limit = Number(millisOf(high)) / Number(millisOf(low));
  if (Number(millisOf(factor)) / 1000 > limit) {
    errors.push(invalid(path, factor, `ratio ${factor} is greater than max/min = ${limit.toFixed(6)}`));
  }
  return errors;
}

export const limitRange: KindValidation = { create, update: create };
