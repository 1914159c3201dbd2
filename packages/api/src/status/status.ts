/**
 * Errors as clients see them: Kubernetes' `Status`. A `StatusError` is thrown when a request must be refused; one place in the server
 * writes its `status`. Its `code` is the reason, for tests and callers.
 */

import { CodedError } from '@hangar/core';
import { fieldErrorBody, fieldErrorText, internal, quote } from './field-error.ts';
import type { FieldError } from './field-error.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: readonly StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export type StatusReason =
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable';

const codes: Readonly<Record<StatusReason, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

/**
 * Reports whether it is a reason of Kubernetes. Other servers may answer anything: webhooks and extension servers use their own reasons.
 */
export const isStatusReason = (reason: unknown): reason is StatusReason =>
  typeof reason === 'string' && Object.hasOwn(codes, reason);

export interface StatusOptions {
  details?: StatusDetails;
  /** Metadata of the list that could not be continued. */
  metadata?: { continue: string };
  cause?: unknown;
}

export class StatusError extends CodedError<StatusReason> {
  readonly status: Status;

  constructor(reason: StatusReason, message: string, options: StatusOptions = {}) {
    super(reason, message, options.cause === undefined ? undefined : { cause: options.cause });
    const { details } = options;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: options.metadata ?? {},
      status: 'Failure',
      message,
      reason,
      ...(details ? { details } : {}),
      code: codes[reason],
    };
  }
}

/**
 * A refusal that kube-apiserver does not classify: code 500 and a message, no reason. It answers so to some invalid input, and clients show
 * the message unchanged. The code of the error itself is `InternalError`.
 */
export class UnclassifiedError extends StatusError {
  override readonly status: Status;

  constructor(message: string, cause?: unknown) {
    super('InternalError', message, { cause });
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 };
  }
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `deployments.apps`; the core group has no suffix. */
export const groupResourceText = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`;
const groupKindText = ({ group, kind }: GroupKind): string => (group === '' ? kind : `${kind}.${group}`);

function detailsOf({ group, resource }: GroupResource, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
}

export const notFound = (resource: GroupResource, name: string): StatusError =>
  new StatusError('NotFound', `${groupResourceText(resource)} ${quote(name)} not found`, {
    details: detailsOf(resource, name),
  });

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  new StatusError('AlreadyExists', `${groupResourceText(resource)} ${quote(name)} already exists`, {
    details: detailsOf(resource, name),
  });

export const nameNotGenerated = (resource: GroupResource, name: string): StatusError =>
  new StatusError(
    'AlreadyExists',
    `${groupResourceText(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    { details: { ...detailsOf(resource, name), retryAfterSeconds: 1 } },
  );

export const conflict = (resource: GroupResource, name: string, message: string): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${groupResourceText(resource)} ${quote(name)}: ${message}`,
    { details: detailsOf(resource, name) },
  );

export const staleObject =
  'the object has been modified; please apply your changes to the latest version and try again';

/** `message` and causes come from server-side apply. */
export const applyConflict = (causes: readonly StatusCause[], message: string): StatusError =>
  new StatusError('Conflict', message, { details: { causes } });

export const forbiddenRequest = (resource: GroupResource, name: string, message: string): StatusError => {
  const text = groupResourceText(resource);
  const what = text === '' ? 'forbidden' : name === '' ? `${text} is forbidden` : `${text} ${quote(name)} is forbidden`;
  return new StatusError('Forbidden', `${what}: ${message}`, { details: detailsOf(resource, name) });
};

/** Length limit of the errors of one object: the rest is counted, not shown. */
const errorsLengthMax = 128 * 1024;

function shownErrors(all: readonly FieldError[]): readonly FieldError[] {
  const shown: FieldError[] = [];
  let length = 0;
  for (const error of all) {
    if (length > errorsLengthMax) {
      return [...shown, tooManyErrors(all.length - shown.length)];
    }
    length += fieldErrorText(error).length;
    shown.push(error);
  }
  return all;
}

const tooManyErrors = (count: number): FieldError => internal('<nil>', `${count} more errors are not shown`);

export function invalidObject(kind: GroupKind, name: string, found: readonly FieldError[]): StatusError {
  const errors = found.length > 1 ? shownErrors(found) : found;
  const texts = [...new Set(errors.map(fieldErrorText))];
  const all = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  const what = `${groupKindText(kind)} ${quote(name)} is invalid`;
  return new StatusError('Invalid', texts.length === 0 ? what : `${what}: ${all}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      ...(errors.length > 0 ? { causes: errors.map(causeOf) } : {}),
    },
  });
}

const causeOf = (error: FieldError): StatusCause => ({
  reason: error.type,
  message: fieldErrorBody(error),
  ...(error.path === '' ? {} : { field: error.path }),
});

export const badRequest = (message: string, cause?: unknown): StatusError =>
  new StatusError('BadRequest', message, { cause });

export const unauthorized = (message = 'Unauthorized'): StatusError => new StatusError('Unauthorized', message);

export const methodNotSupported = (resource: GroupResource, verb: string): StatusError =>
  new StatusError(
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${quote(groupResourceText(resource))}`,
    {
      details: detailsOf(resource, ''),
    },
  );

/** 410: the resourceVersion or continue token is too old. */
export const expired = (message: string, metadata?: { continue: string }): StatusError =>
  new StatusError('Expired', message, metadata ? { metadata } : {});

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError('TooManyRequests', message, { details: { retryAfterSeconds } });

export const internalError = (cause: Error): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${cause.message}`, {
    details: { causes: [{ message: cause.message }] },
    cause,
  });

export const serviceUnavailable = (message: string): StatusError => new StatusError('ServiceUnavailable', message);

export const timedOut = (
  message: string,
  retryAfterSeconds: number,
  causes: readonly StatusCause[] = [],
): StatusError =>
  new StatusError('Timeout', `Timeout: ${message}`, {
    details: { ...(causes.length > 0 ? { causes } : {}), ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}) },
  });

export const tooLarge = (message: string): StatusError =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: ${message}`);

export const notAcceptable = (message: string): StatusError => new StatusError('NotAcceptable', message);
export const unsupportedMediaType = (message: string): StatusError => new StatusError('UnsupportedMediaType', message);
