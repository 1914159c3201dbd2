/** AdmissionReview: the request sent to a webhook, and the validation of its response. */

import { isObject, parseJson, quote } from '@hangar/api';
import type { JsonObject, Status } from '@hangar/api';
import { insistOnFewNodes, typeText } from '../../outbound/review-client.ts';
import type { Resource } from '../../resources/resource.ts';
import type { AdmissionRequest } from '../admission.ts';
import { kindOf } from '../matching/equivalents.ts';
import { namespaceOf } from '../matching/namespace.ts';
import type { VersionedRequest } from './versions.ts';

/** Returns all fields of a request except its objects. */
export function describe(request: AdmissionRequest, resource: Resource): JsonObject {
  const { subresource, name, operation, user, isDryRun, options } = request;
  const { group, version, name: plural } = resource;
  const own = request.resource;
  return {
    kind: { ...kindOf(resource, subresource) },
    resource: { group, version, resource: plural },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { ...kindOf(own, subresource) },
    requestResource: { group: own.group, version: own.version, resource: own.name },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...namespaceMember(namespaceOf(request)),
    operation,
    userInfo: userInfo(user),
    dryRun: isDryRun,
    options: options ?? null,
  };
}

const namespaceMember = (namespace: string): JsonObject => (namespace === '' ? {} : { namespace });

function userInfo({ name, uid, groups, extra }: AdmissionRequest['user']): JsonObject {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

export function reviewOf(
  uid: string,
  version: 'v1' | 'v1beta1',
  described: JsonObject,
  shown: VersionedRequest,
): JsonObject {
  const { dryRun, options, ...about } = described;
  const request = { uid, ...about, object: shown.object ?? null, oldObject: shown.old ?? null, dryRun, options };
  return { kind: 'AdmissionReview', apiVersion: `admission.k8s.io/${version}`, request };
}

export interface Verdict {
  readonly isAllowed: boolean;
  /** Reason of the denial, untyped. */
  readonly result: Partial<Status> | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** Parsed JSON patch; undefined: no change. */
  readonly patch: unknown;
  readonly patchType: string;
}

/** Throws an Error that describes what is invalid in the response. */
export function readVerdict(uid: string, version: 'v1' | 'v1beta1', review: JsonObject, isMutating: boolean): Verdict {
  const { response } = review;
  if (response === undefined || response === null) throw new Error('webhook response was absent');
  if (!isObject(response)) throw wrongType(response, 'response', 'AdmissionResponse');
  if (version === 'v1') {
    const given = member(response, 'uid', 'string') ?? '';
    if (given !== uid) throw new Error(`expected response.uid=${quote(uid)}, got ${quote(given)}`);
    const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview';
    const got = typeText(review);
    if (got !== wanted) throw new Error(`expected webhook response of ${wanted}, got ${got}`);
  }
  const { patch, patchType } = patchOf(response, version, isMutating);
  const { status, warnings, auditAnnotations } = response;
  if (status !== undefined && status !== null && !isObject(status))
    throw wrongType(status, 'response.status', 'Status');
  return {
    isAllowed: member(response, 'allowed', 'boolean') ?? false,
    result: (status as Partial<Status> | null | undefined) ?? undefined,
    warnings: Array.isArray(warnings) ? warnings.filter((one) => typeof one === 'string') : [],
    auditAnnotations: isObject(auditAnnotations) ? textsOf(auditAnnotations) : {},
    patch,
    patchType,
  };
}

/** In v1 a patch has a type; v1beta1 has only one type. */
function patchOf(response: JsonObject, version: 'v1' | 'v1beta1', isMutating: boolean) {
  const encoded = member(response, 'patch', 'string') ?? '';
  const type = member(response, 'patchType', 'string');
  const hasPatch = encoded !== '';
  if (version === 'v1') {
    if (!isMutating && hasPatch) throw new Error('validating webhook may not return response.patch');
    if (!isMutating && type !== undefined) throw new Error('validating webhook may not return response.patchType');
    if (hasPatch && type === undefined) throw new Error('webhook returned response.patch but not response.patchType');
    if (!hasPatch && type !== undefined) throw new Error('webhook returned response.patchType but not response.patch');
    if (type === '') throw new Error('webhook returned invalid response.patchType of ""');
  }
  if (!isMutating || !hasPatch) return { patch: undefined, patchType: '' };
  return { patch: Buffer.from(encoded, 'base64'), patchType: version === 'v1' ? type! : 'JSONPatch' };
}

/** Throws an Error if it is not a list of operations. */
export function readPatch(bytes: Uint8Array): readonly unknown[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  insistOnFewNodes(text);
  const { value } = parseJson(text);
  if (value === null) return [];
  if (!Array.isArray(value))
    throw new Error(`json: cannot unmarshal ${goType(value)} into Go value of type jsonpatch.Patch`);
  return value as unknown[];
}

function member(of: JsonObject, name: string, type: 'string'): string | undefined;
function member(of: JsonObject, name: string, type: 'boolean'): boolean | undefined;
function member(of: JsonObject, name: string, type: string): unknown {
  const value = of[name] ?? undefined;
  if (value === undefined || typeof value === type) return value;
  throw wrongType(value, `response.${name}`, type === 'boolean' ? 'bool' : type);
}

const textsOf = (all: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

const goType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

const wrongType = (value: unknown, field: string, type: string): Error =>
  new Error(`json: cannot unmarshal ${goType(value)} into Go struct field AdmissionReview.${field} of type ${type}`);
