/** The status of a ResourceClaim: its devices, and their users. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, forbidden, index, invalid, tooLong, tooMany } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { byteLength } from '../formats.ts';
import {
  dnsLabelErrors,
  immutableReason,
  qualifiedNameErrors,
  repeatedIn,
  requiredErrors,
  requiredOneOfErrors,
} from '../shared/checks.ts';
import { formatCidr, parseCidr } from '../shared/cidr.ts';
import { conditionsErrors } from '../shared/conditions.ts';
import { equalValues } from '../shared/equal.ts';
import { formatIp } from '../shared/ip.ts';
import { nodeSelectorErrors } from '../shared/node-selectors.ts';
import { isSet, optionalStruct, optionalText, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { csiDriverNameErrors } from './csi.ts';
import {
  configurationErrors,
  requestNames,
  requestReferenceErrors,
  requestReferencesErrors,
} from './device-requests.ts';
import type { RequestNames } from './device-requests.ts';
import { listErrors, poolNameErrors, rawObjectErrors, setErrors } from './device-lists.ts';

const usersMax = 256;
const resultsMax = 32;
const conditionsMax = 8;
const bindingConditionsMax = 4;
const dataBytesMax = 10 * 1024;

export function allocationErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const [status, oldStatus] = [structOf(object, 'status'), structOf(old, 'status')];
  const [allocation, oldAllocation] = [optionalStruct(status, 'allocation'), optionalStruct(oldStatus, 'allocation')];
  const names = requestNames(structOf(structOf(object, 'spec'), 'devices'));
  const allocated = new Set(structsOf(structOf(allocation, 'devices'), 'results').map((one) => identityOf(one)));
  const errors = [
    ...setErrors('status.reservedFor', structsOf(status, 'reservedFor'), usersMax, userErrors, (one) =>
      textOf(one, 'uid'),
    ),
    ...setErrors(
      'status.devices',
      structsOf(status, 'devices'),
      Number.POSITIVE_INFINITY,
      (path, device) => deviceErrors(path, device, allocated),
      shownIdentity,
    ),
    ...reservationErrors(object, old),
  ];
  if (!allocation) return errors;
  if (oldAllocation) {
    const isSame = equalValues(allocation, oldAllocation);
    return isSame ? errors : [...errors, invalid('status.allocation', allocation, immutableReason)];
  }
  return [...errors, ...resultErrors('status.allocation', allocation, names)];
}

function userErrors(path: string, user: JsonObject): FieldError[] {
  return ['resource', 'name', 'uid'].flatMap((field) => requiredErrors(child(path, field), textOf(user, field)));
}

function reservationErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const path = 'status.reservedFor';
  const users = structsOf(structOf(object, 'status'), 'reservedFor');
  if (users.length === 0) return [];
  if (!isSet(structOf(object, 'status'), 'allocation')) {
    return [forbidden(path, 'may not be specified when `allocated` is not set')];
  }
  if (object.metadata.deletionTimestamp === undefined) return [];
  const before = structsOf(structOf(old, 'status'), 'reservedFor');
  const isNew = users.some((user) => !before.some((one) => equalValues(one, user)));
  const rule = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return isNew ? [forbidden(path, rule)] : [];
}

const identityOf = (device: JsonObject): string => JSON.stringify(shownIdentity(device));
const shownIdentity = (device: JsonObject): JsonObject => ({
  Driver: textOf(device, 'driver'),
  Pool: textOf(device, 'pool'),
  Device: textOf(device, 'device'),
  ShareID: textOf(device, 'shareID'),
});

function resultErrors(path: string, allocation: JsonObject, names: RequestNames): FieldError[] {
  const devices = structOf(allocation, 'devices');
  const at = child(path, 'devices');
  const selector = optionalStruct(allocation, 'nodeSelector');
  return [
    ...listErrors(child(at, 'results'), structsOf(devices, 'results'), resultsMax, (where, result) => [
      ...requestReferenceErrors(child(where, 'request'), textOf(result, 'request'), names),
      ...placeErrors(where, result),
      ...bindingErrors(where, result),
      ...shareErrors(where, result),
    ]),
    ...listErrors(child(at, 'config'), structsOf(devices, 'config'), 2 * resultsMax, (where, config) => [
      ...requiredOneOfErrors(child(where, 'source'), textOf(config, 'source'), ['FromClaim', 'FromClass']),
      ...requestReferencesErrors(where, config, names),
      ...configurationErrors(where, config),
    ]),
    ...(selector ? nodeSelectorErrors(child(path, 'nodeSelector'), selector) : []),
  ];
}

const placeErrors = (path: string, device: JsonObject): FieldError[] => [
  ...csiDriverNameErrors(child(path, 'driver'), textOf(device, 'driver')),
  ...poolNameErrors(child(path, 'pool'), textOf(device, 'pool')),
  ...dnsLabelErrors(child(path, 'device'), textOf(device, 'device')),
];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function shareErrors(path: string, device: JsonObject): FieldError[] {
  const share = optionalText(device, 'shareID');
  if (share === undefined || uuid.test(share)) return [];
  const at = child(path, 'shareID');
  if (uuid.test(share.toLowerCase())) {
    const rule =
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';
    return [invalid(at, share, rule)];
  }
  const problem = share.length === 36 ? 'invalid UUID format' : `invalid UUID length: ${byteLength(share)}`;
  return [invalid(at, share, `error validating uid: ${problem}`)];
}

/** Conditions that a device must meet, or must not, before pods are bound: both or none. */
export function bindingErrors(path: string, device: JsonObject): FieldError[] {
  const [wanted, failed] = [textsOf(device, 'bindingConditions'), textsOf(device, 'bindingFailureConditions')];
  const [wantedPath, failedPath] = [child(path, 'bindingConditions'), child(path, 'bindingFailureConditions')];
  const [wantedTwice, failedTwice, wantedOnce] = [repeatedIn(wanted), repeatedIn(failed), new Set(wanted)];
  const overlap = 'bindingFailureConditions must not overlap with bindingConditions';
  return [
    ...listErrors(wantedPath, wanted, bindingConditionsMax, qualifiedNameErrors),
    ...listErrors(failedPath, failed, bindingConditionsMax, qualifiedNameErrors),
    ...[...wantedTwice].map((at) => duplicate(index(wantedPath, at), wanted[at])),
    ...failed.flatMap((condition, at) => [
      ...(failedTwice.has(at) ? [duplicate(index(failedPath, at), condition)] : []),
      ...(wantedOnce.has(condition) ? [invalid(index(failedPath, at), condition, overlap)] : []),
    ]),
    ...(wanted.length === 0 && failed.length > 0
      ? [invalid(wantedPath, null, 'bindingConditions are required to use bindingFailureConditions')]
      : []),
    ...(failed.length === 0 && wanted.length > 0
      ? [invalid(failedPath, null, 'bindingFailureConditions are required to use bindingConditions')]
      : []),
  ];
}

function deviceErrors(path: string, device: JsonObject, allocated: ReadonlySet<string>): FieldError[] {
  const conditions = structsOf(device, 'conditions');
  const conditionsPath = child(path, 'conditions');
  const isKnown = allocated.has(identityOf(device));
  return [
    ...placeErrors(path, device),
    ...shareErrors(path, device),
    ...(isKnown ? [] : [invalid(path, shownIdentity(device), 'must be an allocated device in the claim')]),
    ...(conditions.length > conditionsMax ? [tooMany(conditionsPath, conditions.length, conditionsMax)] : []),
    ...conditionsErrors(conditionsPath, conditions),
    ...(isSet(device, 'data') ? rawObjectErrors(child(path, 'data'), device['data'], dataBytesMax) : []),
    ...networkErrors(child(path, 'networkData'), optionalStruct(device, 'networkData')),
  ];
}

function networkErrors(path: string, network: JsonObject | undefined): FieldError[] {
  if (!network) return [];
  const long = (field: string, max: number): FieldError[] =>
    byteLength(textOf(network, field)) > max ? [tooLong(child(path, field), max)] : [];
  return [
    ...long('interfaceName', 256),
    ...long('hardwareAddress', 128),
    ...setErrors(child(path, 'ips'), textsOf(network, 'ips'), 16, interfaceErrors, (ip) => ip),
  ];
}

/** An address with the length of its network's prefix: `10.9.8.7/24`. */
function interfaceErrors(path: string, text: string): FieldError[] {
  const cidr = parseCidr(text);
  if (!cidr) {
    return [invalid(path, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  }
  const canonical = `${formatIp(cidr.address)}/${formatCidr(cidr).split('/')[1]!}`;
  return text === canonical ? [] : [invalid(path, text, `must be in canonical form ("${canonical}")`)];
}
