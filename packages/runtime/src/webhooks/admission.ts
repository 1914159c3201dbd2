/**
 * Admission handlers as hooks. `validating` allows, warns or throws `denied`; `mutating` returns a changed object, from which the patch is
 * computed; `defaulting` is a `mutating` hook that only adds.
 *
 * Objects are the JSON that the API server sent. They are not decoded into types that would drop unknown fields, so a patch contains only
 * changes of the handler.
 */

import { groupOf } from '@hangar/client';
import type { ApiObject, Client, Kind, KindNames, UnknownObject } from '@hangar/client';
import { StatusError } from '@hangar/api/status';
import type { JsonObject } from '@hangar/api/json';
import { isObject } from '@hangar/api/json';
import type { Logger } from '@hangar/core';
import { asError } from '@hangar/core';
import { cloneJson } from '../json/clone-json.ts';
import { DeniedError } from './denied.ts';
import { admissionMaxBytes } from './hook.ts';
import type { Hook, HookContext } from './hook.ts';
import { jsonDifferences } from './json-differences.ts';
import type { JsonOperation } from './json-differences.ts';
import type { HookOptions } from './hook-options.ts';
import { admissionPath, versionOf } from './paths.ts';
import { badReview, readAdmissionReview, writeAdmissionReview } from './review.ts';
import type { AdmissionOperation, AdmissionRequest, AdmissionResponse } from './review.ts';

/** The context of an admission request. */
export interface Asked {
  readonly request: AdmissionRequest;
  /** The client of the webhook server, if it has one. */
  readonly client: Client | undefined;
  readonly log: Logger | undefined;
  /** Aborted when the API server no longer waits for the response. */
  readonly signal: AbortSignal;
  /** Adds a warning for the client to the response. */
  warn(text: string): void;
}

/** A request to create an object. */
export interface AskedToCreate<T> extends Asked {
  readonly object: T;
  readonly oldObject: undefined;
}

/** A request to update an object. */
export interface AskedToUpdate<T> extends Asked {
  readonly object: T;
  readonly oldObject: T;
}

/** A request to delete an object. */
export interface AskedToDelete<T> extends Asked {
  /** The object to delete, under both names. */
  readonly object: T;
  readonly oldObject: T;
}

/** A request for `exec`, `portforward` or `proxy`; the object has the options of the connection. */
export interface AskedToConnect extends Asked {
  readonly object: UnknownObject;
  readonly oldObject: undefined;
}

/** Allows the request, optionally with warnings. Throw `denied(…)` to deny it. */
export type Verdict = void | readonly string[] | Promise<void | readonly string[]>;

/** Handlers by operation. Operations without a handler are allowed. */
export interface ValidatingHandlers<T extends ApiObject> {
  create?(asked: AskedToCreate<T>): Verdict;
  update?(asked: AskedToUpdate<T>): Verdict;
  delete?(asked: AskedToDelete<T>): Verdict;
  connect?(asked: AskedToConnect): Verdict;
}

/** Changes its copy of the object, or returns a new object. */
export type Mutate<T extends ApiObject> = (asked: AskedToCreate<T> | AskedToUpdate<T>) => T | void | Promise<T | void>;

export interface AdmissionHook extends Hook {
  readonly type: 'validating' | 'mutating';
  readonly kind: KindNames;
  readonly operations: readonly AdmissionOperation[];
  readonly options: HookOptions;
}

/** Returns a validating hook for a kind. */
export function validating<T extends ApiObject>(
  kind: Kind<T>,
  handlers: ValidatingHandlers<NoInfer<T>>,
  options: HookOptions = {},
): AdmissionHook {
  const handled = (['create', 'update', 'delete', 'connect'] as const).filter((one) => handlers[one]);
  return {
    type: 'validating',
    kind,
    options,
    operations: options.operations ?? handled.map((one) => one.toUpperCase() as AdmissionOperation),
    path: options.path ?? admissionPath('validate', kind),
    bodyMaxBytes: admissionMaxBytes,
    answer: (review, context) =>
      answerReview(review, context, (request, asked) => {
        checkKind(kind, request, options);
        return validate(handlers, request, asked);
      }),
  };
}

async function validate<T extends ApiObject>(
  handlers: ValidatingHandlers<T>,
  request: AdmissionRequest,
  asked: Asked,
): Promise<void> {
  const verdict = await verdictOf(handlers, request, asked);
  for (const warning of verdict ?? []) asked.warn(warning);
}

function verdictOf<T extends ApiObject>(
  handlers: ValidatingHandlers<T>,
  request: AdmissionRequest,
  asked: Asked,
): Verdict {
  const old = (): T => given(request.oldObject, 'oldObject') as unknown as T;
  const object = (): T => given(request.object, 'object') as unknown as T;
  switch (request.operation) {
    case 'CREATE':
      return handlers.create?.({ ...asked, object: object(), oldObject: undefined });
    case 'UPDATE':
      return handlers.update?.({ ...asked, object: object(), oldObject: old() });
    case 'DELETE':
      return handlers.delete?.({ ...asked, object: old(), oldObject: old() });
    case 'CONNECT':
      return handlers.connect?.({ ...asked, object: object() as unknown as UnknownObject, oldObject: undefined });
  }
}

function given(object: JsonObject | null, member: string): JsonObject {
  if (object === null) throw badReview(`the request has no ${member}`);
  return object;
}

/** Returns a mutating hook for a kind. */
export function mutating<T extends ApiObject>(
  kind: Kind<T>,
  mutate: Mutate<NoInfer<T>>,
  options: HookOptions = {},
): AdmissionHook {
  return mutatingHook(kind, mutate, options, () => {});
}

/** Returns a mutating hook that only adds: removed fields are restored. Lists stay as the handler leaves them. */
export function defaulting<T extends ApiObject>(
  kind: Kind<T>,
  setDefaults: Mutate<NoInfer<T>>,
  options: HookOptions = {},
): AdmissionHook {
  return mutatingHook(kind, setDefaults, options, keepFields);
}

function mutatingHook<T extends ApiObject>(
  kind: Kind<T>,
  mutate: Mutate<T>,
  options: HookOptions,
  restore: (from: JsonObject, to: JsonObject) => void,
): AdmissionHook {
  return {
    type: 'mutating',
    kind,
    options,
    operations: options.operations ?? ['CREATE', 'UPDATE'],
    path: options.path ?? admissionPath('mutate', kind),
    bodyMaxBytes: admissionMaxBytes,
    answer: (review, context) =>
      answerReview(review, context, async (request, asked) => {
        checkKind(kind, request, options);
        if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined;
        const object = given(request.object, 'object');
        const changed = await changedBy(mutate, object, request, asked);
        restore(object, changed);
        return jsonDifferences(object, changed);
      }),
  };
}

async function changedBy<T extends ApiObject>(
  mutate: Mutate<T>,
  object: JsonObject,
  request: AdmissionRequest,
  asked: Asked,
): Promise<JsonObject> {
  const own = cloneJson(object) as unknown as T;
  const about =
    request.operation === 'CREATE'
      ? { ...asked, object: own, oldObject: undefined }
      : { ...asked, object: own, oldObject: given(request.oldObject, 'oldObject') as unknown as T };
  const answer = (await mutate(about)) ?? own;
  // As on the wire: dates are strings, undefined fields are absent.
  const changed: unknown = JSON.parse(JSON.stringify(answer));
  if (!isObject(changed)) throw new TypeError('the handler did not return an object');
  keep(object, changed, ['apiVersion', 'kind', 'metadata']);
  if (isObject(object['metadata']) && isObject(changed['metadata'])) {
    keep(object['metadata'], changed['metadata'], serversMetadata);
  }
  return changed;
}

/** Metadata fields that a handler must not remove. */
const serversMetadata = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
];

function keepFields(from: JsonObject, to: JsonObject): void {
  keep(from, to, Object.keys(from));
  for (const [name, value] of Object.entries(from)) {
    const now = to[name];
    if (isObject(value) && isObject(now)) keepFields(value, now);
  }
}

/** Keeps the identity of an object, which a handler that returns a new object may omit. */
function keep(from: JsonObject, to: JsonObject, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.hasOwn(from, name) || Object.hasOwn(to, name)) continue;
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(to, name, { value: from[name], enumerable: true, configurable: true, writable: true });
  }
}

/** A configuration that sends another kind must not reach a handler that relies on its types. */
function checkKind(kind: KindNames, { kind: got, operation }: AdmissionRequest, { subresource }: HookOptions): void {
  const isOther = operation === 'CONNECT' || (subresource !== undefined && subresource !== 'status');
  if (isOther) return;
  if (got.group === groupOf(kind) && got.version === versionOf(kind) && got.kind === kind.kind) return;
  const name = `${got.group === '' ? '' : `${got.group}/`}${got.version} ${got.kind}`;
  throw badReview(`this webhook is for ${kind.apiVersion} ${kind.kind}, not ${name}`);
}

/** Converts errors of handlers to responses; throws only for a review that cannot be answered. */
async function answerReview(
  review: unknown,
  { signal, client, log, onFailure }: HookContext,
  decide: (request: AdmissionRequest, asked: Asked) => Promise<readonly JsonOperation[] | void>,
): Promise<JsonObject> {
  const request = readAdmissionReview(review);
  const warnings: string[] = [];
  const asked: Asked = { request, signal, client, log, warn: (text) => void warnings.push(text) };
  let response: AdmissionResponse;
  try {
    const patch = await decide(request, asked);
    response = patch ? { allowed: true, patch } : { allowed: true };
  } catch (thrown) {
    response = refusal(thrown, request, onFailure);
  }
  return writeAdmissionReview(request.uid, { ...response, warnings });
}

/** An error Status of an API server in a handler denies the request, as in controller-runtime. */
function refusal(thrown: unknown, { uid }: AdmissionRequest, onFailure: HookContext['onFailure']): AdmissionResponse {
  if (thrown instanceof DeniedError || thrown instanceof StatusError) return { allowed: false, status: thrown.status };
  const error = asError(thrown);
  if ((error as { code?: unknown }).code === 'InvalidReview') throw error;
  onFailure(error, uid);
  // The cause is only logged: its text is not meant for the client of the request.
  const message = `the webhook failed; its log has the details of review ${uid}`;
  return { allowed: false, status: new StatusError('InternalError', message).status };
}
