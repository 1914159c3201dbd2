/** Checks of requests in claims and their allocations. */

import type { JsonObject } from '../../object.ts';
import { child, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dnsLabelErrors } from '../shared/checks.ts';
import { optionalStruct, structsOf, textOf, textsOf } from '../shared/read.ts';
import { csiDriverNameErrors } from './csi.ts';
import { rawObjectErrors, setErrors } from './device-lists.ts';

export const requestsMax = 32;
const parameterBytesMax = 10 * 1024;

/** Names of requests, with those of their alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

export const requestNames = (devices: JsonObject): RequestNames =>
  new Map(
    structsOf(devices, 'requests').map((request) => [
      textOf(request, 'name'),
      new Set(structsOf(request, 'firstAvailable').map((one) => textOf(one, 'name'))),
    ]),
  );

export function requestReferenceErrors(path: string, name: string, names: RequestNames): FieldError[] {
  const [request = '', alternative, ...more] = name.split('/');
  const rule = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  if (more.length > 0) return [invalid(path, name, rule)];
  const isKnown = names.has(request) && (alternative === undefined || names.get(request)!.has(alternative));
  return [
    ...name.split('/').flatMap((part) => dnsLabelErrors(path, part)),
    ...(isKnown ? [] : [invalid(path, name, rule)]),
  ];
}

export const requestReferencesErrors = (path: string, holder: JsonObject, names: RequestNames): FieldError[] =>
  setErrors(
    child(path, 'requests'),
    textsOf(holder, 'requests'),
    requestsMax,
    (at, name) => requestReferenceErrors(at, name, names),
    (name) => name,
  );

export function configurationErrors(path: string, configuration: JsonObject): FieldError[] {
  const opaque = optionalStruct(configuration, 'opaque');
  const at = child(path, 'opaque');
  if (!opaque) return [required(at, '')];
  return [
    ...csiDriverNameErrors(child(at, 'driver'), textOf(opaque, 'driver')),
    ...rawObjectErrors(child(at, 'parameters'), opaque['parameters'], parameterBytesMax),
  ];
}
