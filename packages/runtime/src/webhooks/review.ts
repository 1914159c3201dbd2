/**
 * AdmissionReview v1 on the wire: request and response. Required fields are checked here once (`admission.k8s.io` has no published schema),
 * so that handlers can rely on them.
 */

import type { JsonObject } from '@hangar/api/json';
import { isObject } from '@hangar/api/json';
import type { Status } from '@hangar/api/status';
import { RuntimeError } from '../errors.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly requestKind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly requestResource?: { readonly group: string; readonly version: string; readonly resource: string };
  readonly requestSubResource?: string;
  /** Absent when the server generates the name from `generateName`. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: AdmissionOperation;
  readonly userInfo: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  readonly dryRun?: boolean;
  readonly options?: JsonObject | null;
}

export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: Status;
  /** RFC 6902. */
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';
const operations: ReadonlySet<unknown> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** Returns the error for a review that an API server would not send. */
export const badReview = (message: string): RuntimeError => new RuntimeError('InvalidReview', message);

/** Throws `InvalidReview`. */
export function readAdmissionReview(review: unknown): AdmissionRequest {
  if (!isObject(review)) throw badReview('the body is not an AdmissionReview');
  if (review['apiVersion'] !== apiVersion || review['kind'] !== kind) {
    throw badReview(`expected ${apiVersion} ${kind}, got ${text(review['apiVersion'])} ${text(review['kind'])}`);
  }
  const { request } = review;
  if (!isObject(request)) throw badReview('the review has no request');
  if (typeof request['uid'] !== 'string' || request['uid'] === '') throw badReview('the request has no uid');
  if (!operations.has(request['operation'])) {
    throw badReview(`the request's operation is ${text(request['operation'])}`);
  }
  for (const [member, last] of [
    ['kind', 'kind'],
    ['resource', 'resource'],
  ] as const) {
    const of = request[member];
    const isWhole = isObject(of) && [of['group'], of['version'], of[last]].every((part) => typeof part === 'string');
    if (!isWhole) throw badReview(`the request's ${member} is incomplete`);
  }
  const [object, oldObject] = [request['object'] ?? null, request['oldObject'] ?? null];
  for (const one of [object, oldObject])
    if (one !== null && !isObject(one)) throw badReview('object and oldObject must be objects');
  const userInfo = isObject(request['userInfo']) ? request['userInfo'] : {};
  return { ...(request as unknown as AdmissionRequest), object, oldObject, userInfo } as AdmissionRequest;
}

const text = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : 'none');

export function writeAdmissionReview(
  uid: string,
  { allowed, status, patch, ...others }: AdmissionResponse,
): JsonObject {
  const { warnings = [], auditAnnotations } = others;
  const hasPatch = allowed && patch !== undefined && patch.length > 0;
  return {
    apiVersion,
    kind,
    response: {
      uid,
      allowed,
      ...(status ? { status } : {}),
      ...(hasPatch ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
      ...(auditAnnotations ? { auditAnnotations } : {}),
    },
  };
}
