/** ResourceSlice: the devices of a driver, and their nodes. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, forbidden, index, invalid, key, required, tooLong, tooMany } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength } from '../formats.ts';
import { append, dnsLabelErrors, dnsSubdomainErrors, immutableErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { nodeSelectorErrors } from '../shared/node-selectors.ts';
import { unitsOf } from '../shared/quantities.ts';
import { compareQuantities } from '../../values/quantity.ts';
import {
  flagOf,
  isEmpty,
  isSet,
  numberOf,
  optionalStruct,
  optionalText,
  structOf,
  structsOf,
  textOf,
  textsOf,
} from '../shared/read.ts';
import { csiDriverNameErrors } from './csi.ts';
import { bindingErrors } from './device-allocation.ts';
import { taintErrors } from './device-claim.ts';
import { deviceKeyErrors, listErrors, poolNameErrors, setErrors } from './device-lists.ts';
import { parseVersion } from './semantic-version.ts';

const specOf = (object: KubeObject): JsonObject => structOf(object, 'spec');
const places = '`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`';
const trueOnly = 'must be either unset or set to true';

function sliceErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = specOf(object);
  const devices = structsOf(spec, 'devices');
  const perDevice = flagOf(spec, 'perDeviceNodeSelection');
  const isAdvanced = devices.some((device) => !isEmpty(device, 'taints') || !isEmpty(device, 'consumesCounters'));
  const oldDevices = new Map(structsOf(structOf(old, 'spec'), 'devices').map((one) => [textOf(one, 'name'), one]));
  const isBoth = isSet(spec, 'sharedCounters') && isSet(spec, 'devices');
  return [
    ...csiDriverNameErrors('spec.driver', textOf(spec, 'driver')),
    ...poolErrors(structOf(spec, 'pool')),
    ...(old ? fixedErrors(spec, specOf(old)) : []),
    ...nodeErrors(spec),
    ...(isBoth ? [invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')] : []),
    ...setErrors(
      'spec.devices',
      devices,
      isAdvanced ? 64 : 128,
      (path, device) => deviceErrors(path, device, oldDevices.get(textOf(device, 'name')), perDevice),
      (device) => textOf(device, 'name'),
    ),
    ...setErrors(
      'spec.sharedCounters',
      structsOf(spec, 'sharedCounters'),
      8,
      (path, set) => countersErrors(path, set, 'name'),
      (set) => textOf(set, 'name'),
    ),
  ];
}

function poolErrors(pool: JsonObject): FieldError[] {
  const [count, generation] = [numberOf(pool, 'resourceSliceCount'), numberOf(pool, 'generation')];
  return [
    ...poolNameErrors('spec.pool.name', textOf(pool, 'name')),
    ...(count <= 0 ? [invalid('spec.pool.resourceSliceCount', count, 'must be greater than zero')] : []),
    ...(generation < 0 ? [invalid('spec.pool.generation', generation, 'must be greater than or equal to zero')] : []),
  ];
}

const fixedErrors = (spec: JsonObject, old: JsonObject): FieldError[] => [
  ...immutableErrors('spec.pool.name', textOf(structOf(spec, 'pool'), 'name'), textOf(structOf(old, 'pool'), 'name')),
  ...immutableErrors('spec.driver', textOf(spec, 'driver'), textOf(old, 'driver')),
  ...immutableErrors('spec.nodeName', optionalText(spec, 'nodeName'), optionalText(old, 'nodeName')),
];

/** The nodes of the devices: exactly one field must be set. */
function nodeErrors(spec: JsonObject): FieldError[] {
  const [errors, given]: [FieldError[], string[]] = [[], []];
  const name = optionalText(spec, 'nodeName');
  const selector = optionalStruct(spec, 'nodeSelector');
  if (name === '') {
    errors.push(invalid('spec.nodeName', name, 'must be either unset or set to a non-empty string'));
  } else if (name !== undefined) {
    given.push('`nodeName`');
    errors.push(...dnsSubdomainErrors('spec.nodeName', name));
  }
  if (selector) {
    given.push('`nodeSelector`');
    append(errors, nodeSelectorErrors('spec.nodeSelector', selector));
    append(errors, oneTermErrors(selector));
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection']) {
    if (flagOf(spec, field)) given.push(`\`${field}\``);
    else if (isSet(spec, field)) errors.push(invalid(child('spec', field), false, trueOnly));
  }
  const rule = `exactly one of ${places} is required`;
  if (given.length === 0) errors.push(required('spec', rule));
  if (given.length > 1) {
    errors.push(invalid('spec', `{${given.join(', ')}}`, `${rule}, but multiple fields are set`));
  }
  return errors;
}

function oneTermErrors(selector: JsonObject): FieldError[] {
  const terms = structsOf(selector, 'nodeSelectorTerms');
  if (terms.length === 1) return [];
  const path = 'spec.nodeSelector.nodeSelectorTerms';
  return [invalid(path, terms.length === 0 ? null : terms, 'must have exactly one node selector term')];
}

function deviceErrors(path: string, device: JsonObject, old: JsonObject | undefined, perDevice: boolean): FieldError[] {
  const [attributes, capacity] = [structOf(device, 'attributes'), structOf(device, 'capacity')];
  const total = Object.keys(attributes).length + Object.keys(capacity).length;
  const keepsTaints = old !== undefined && equalValues(old['taints'], device['taints']);
  const isShared = flagOf(device, 'allowMultipleAllocations');
  return [
    ...dnsLabelErrors(child(path, 'name'), textOf(device, 'name')),
    ...(total > 32 ? [invalid(path, total, 'the total number of attributes and capacities must not exceed 32')] : []),
    ...mapErrors(child(path, 'attributes'), attributes, deviceKeyErrors, attributeErrors),
    ...mapErrors(child(path, 'capacity'), capacity, deviceKeyErrors, (at, one) => capacityErrors(at, one, isShared)),
    ...(keepsTaints ? [] : listErrors(child(path, 'taints'), structsOf(device, 'taints'), 16, taintErrors)),
    ...setErrors(
      child(path, 'consumesCounters'),
      structsOf(device, 'consumesCounters'),
      2,
      (at, one) => countersErrors(at, one, 'counterSet'),
      (one) => textOf(one, 'counterSet'),
    ),
    ...(perDevice ? ownNodeErrors(path, device) : noNodeErrors(path, device)),
    ...bindingErrors(path, device),
  ];
}

/** Keys may be long; a path shows only their start and end. */
const keyLengthMax = 96;
const shownKey = (name: string): string => {
  if (name.length <= keyLengthMax) return name;
  const room = keyLengthMax - 3;
  return `${name.slice(0, Math.floor((room + 1) / 2))}...${name.slice(name.length - Math.floor(room / 2))}`;
};

const mapErrors = (
  path: string,
  map: JsonObject,
  keyErrors: (path: string, name: string) => FieldError[],
  check: (path: string, item: JsonObject) => FieldError[],
): FieldError[] =>
  Object.keys(map).flatMap((name) => [
    ...keyErrors(path, name),
    ...check(key(path, shownKey(name)), map[name] as JsonObject),
  ]);

const valueBytesMax = 64;

function attributeErrors(path: string, attribute: JsonObject): FieldError[] {
  const given = ['bool', 'int', 'string', 'version'].filter((field) => isSet(attribute, field));
  const [text, version] = [textOf(attribute, 'string'), textOf(attribute, 'version')];
  const errors = byteLength(text) > valueBytesMax ? [tooLong(child(path, 'string'), valueBytesMax)] : [];
  if (isSet(attribute, 'version')) {
    if (!parseVersion(version)) {
      errors.push(invalid(child(path, 'version'), version, 'must be a string compatible with semver.org spec 2.0.0'));
    }
    if (byteLength(version) > valueBytesMax) errors.push(tooLong(child(path, 'version'), valueBytesMax));
  }
  if (given.length === 1) return errors;
  return [
    ...errors,
    invalid(path, given.length === 0 ? '' : shownAttribute(attribute), 'exactly one value must be specified'),
  ];
}

const shownAttribute = (attribute: JsonObject): JsonObject => ({
  IntValue: attribute['int'] ?? null,
  BoolValue: attribute['bool'] ?? null,
  StringValue: attribute['string'] ?? null,
  VersionValue: attribute['version'] ?? null,
  BoolValues: null,
  IntValues: null,
  StringValues: null,
  VersionValues: null,
});

function capacityErrors(path: string, capacity: JsonObject, isShared: boolean): FieldError[] {
  const policy = optionalStruct(capacity, 'requestPolicy');
  const at = child(path, 'requestPolicy');
  if (!policy) return [];
  if (!isShared) return [forbidden(at, 'allowMultipleAllocations must be true')];
  const values = textsOf(policy, 'validValues');
  const range = optionalStruct(policy, 'validRange');
  if (values.length > 0 && range) {
    const rule = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbidden(at, rule)];
  }
  const field = values.length > 0 ? 'validValues' : range ? 'validRange' : undefined;
  if (field === undefined) return [];
  const chosen = optionalText(policy, 'default');
  if (chosen === undefined) return [required(child(at, 'default'), `required when ${field} is defined`)];
  const most = textOf(capacity, 'value') || '0';
  return range
    ? rangeErrors(child(at, 'validRange'), range, chosen, most)
    : valuesErrors(child(at, 'validValues'), values, chosen, most);
}

function valuesErrors(path: string, values: readonly string[], chosen: string, most: string): FieldError[] {
  const order = values.flatMap((value, at) =>
    at > 0 && compareQuantities(values[at - 1]!, value) > 0
      ? [invalid(index(path, at), value, 'values must be sorted in ascending order')]
      : [],
  );
  const items = setErrors(
    path,
    values,
    10,
    (at, value) =>
      compareQuantities(value, most) > 0 ? [invalid(at, value, `option is larger than capacity value: ${most}`)] : [],
    (value) => String(unitsOf(value)),
  );
  const isKnown = values.length <= 10 && values.some((value) => compareQuantities(value, chosen) === 0);
  const unknown = invalid(path, chosen, 'default value is not valid according to the requestPolicy');
  return [...order, ...items, ...(isKnown ? [] : [unknown])];
}

function rangeErrors(path: string, range: JsonObject, chosen: string, most: string): FieldError[] {
  const [least, limit] = [optionalText(range, 'min'), optionalText(range, 'max')];
  if (least === undefined) return [required(child(path, 'min'), 'required when validRange is defined')];
  const errors: FieldError[] = [];
  const refuse = (isWrong: boolean, field: string, value: string, rule: string): number =>
    isWrong ? errors.push(invalid(child(path, field), value, rule)) : 0;
  const isAbove = (one: string, other: string): boolean => compareQuantities(one, other) > 0;
  refuse(isAbove(least, most), 'min', least, `min is larger than capacity value: ${most}`);
  refuse(isAbove(least, chosen), 'min', chosen, `default is less than min: ${least}`);
  if (limit !== undefined) {
    refuse(isAbove(least, limit), 'max', least, `min is larger than max: ${limit}`);
    refuse(isAbove(limit, most), 'max', limit, `max is larger than capacity value: ${most}`);
    refuse(isAbove(chosen, limit), 'max', chosen, `default is more than max: ${limit}`);
  }
  const step = optionalText(range, 'step');
  if (step === undefined || unitsOf(step) === 0n) return errors;
  for (const value of limit === undefined ? [chosen] : [chosen, limit]) {
    const isOff = (unitsOf(value) - unitsOf(least)) % unitsOf(step) !== 0n;
    refuse(isOff, 'step', value, `value is not a multiple of a given step (${step}) from (${least})`);
  }
  return errors;
}

function countersErrors(path: string, set: JsonObject, nameField: string): FieldError[] {
  const name = textOf(set, nameField);
  const counters = Object.keys(structOf(set, 'counters'));
  const [namePath, countersPath] = [child(path, nameField), child(path, 'counters')];
  const errors = name === '' ? [required(namePath, '')] : dnsLabelErrors(namePath, name);
  if (counters.length === 0) return [...errors, required(countersPath, '')];
  if (counters.length > 32) return [...errors, tooMany(countersPath, counters.length, 32)];
  return [...errors, ...counters.flatMap((counter) => dnsLabelErrors(countersPath, counter))];
}

function ownNodeErrors(path: string, device: JsonObject): FieldError[] {
  const [errors, given]: [FieldError[], string[]] = [[], []];
  const name = optionalText(device, 'nodeName');
  const selector = optionalStruct(device, 'nodeSelector');
  if (name === '') errors.push(invalid(child(path, 'nodeName'), name, 'must not be empty'));
  else if (name !== undefined) {
    given.push('`nodeName`');
    errors.push(...dnsSubdomainErrors(child(path, 'nodeName'), name));
  }
  if (selector) {
    given.push('`nodeSelector`');
    append(errors, nodeSelectorErrors(child(path, 'nodeSelector'), selector));
  }
  if (flagOf(device, 'allNodes')) given.push('`allNodes`');
  else if (isSet(device, 'allNodes')) errors.push(invalid(child(path, 'allNodes'), false, trueOnly));
  const rule =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (given.length === 0) errors.push(required(path, rule));
  if (given.length > 1) errors.push(invalid(path, `{${given.join(', ')}}`, rule));
  return errors;
}

function noNodeErrors(path: string, device: JsonObject): FieldError[] {
  if (!['nodeName', 'nodeSelector', 'allNodes'].some((field) => isSet(device, field))) return [];
  const rule =
    '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  return [invalid(path, null, rule)];
}

export const resourceSlice: KindValidation = {
  create: (object) => sliceErrors(object, undefined),
  update: sliceErrors,
};
