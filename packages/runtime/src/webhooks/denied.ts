/** How a handler says no. */

import { StatusError } from '@hangar/api/status';
import type { Status, StatusCause, StatusReason } from '@hangar/api/status';
import { RuntimeError } from '../errors.ts';

export interface DeniedOptions {
  /** Absent: `Forbidden`. */
  readonly reason?: StatusReason;
  /** Absent: the reason's. */
  readonly code?: number;
  /** What is wrong with which field: `{ field: 'spec.size', message: 'must not shrink', reason: 'FieldValueInvalid' }`. */
  readonly causes?: readonly StatusCause[];
}

/** The request is refused; the client reads `admission webhook "…" denied the request: <message>`. */
export class DeniedError extends RuntimeError {
  readonly status: Status;

  constructor(message: string, status: Status) {
    super('Denied', message);
    this.status = status;
  }
}

/** To be thrown by a handler. */
export function denied(message: string, { reason = 'Forbidden', code, causes }: DeniedOptions = {}): DeniedError {
  const { status } = new StatusError(reason, message, causes ? { details: { causes } } : {});
  return new DeniedError(message, code === undefined ? status : { ...status, code });
}
