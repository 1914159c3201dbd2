/** Errors with which a handler denies a request. */

import { StatusError } from '@hangar/api/status';
import type { Status, StatusCause, StatusReason } from '@hangar/api/status';
import { RuntimeError } from '../errors.ts';

export interface DeniedOptions {
  /** Absent: `Forbidden`. */
  readonly reason?: StatusReason;
  /** Absent: the HTTP status of the reason. */
  readonly code?: number;
  /** Errors by field: `{ field: 'spec.size', message: 'must not shrink', reason: 'FieldValueInvalid' }`. */
  readonly causes?: readonly StatusCause[];
}

/** Denies a request. The client receives `admission webhook "…" denied the request: <message>`. */
export class DeniedError extends RuntimeError {
  readonly status: Status;

  constructor(message: string, status: Status) {
    super('Denied', message);
    this.status = status;
  }
}

/** Returns the error that a handler throws to deny a request. */
export function denied(message: string, { reason = 'Forbidden', code, causes }: DeniedOptions = {}): DeniedError {
  const { status } = new StatusError(reason, message, causes ? { details: { causes } } : {});
  return new DeniedError(message, code === undefined ? status : { ...status, code });
}
