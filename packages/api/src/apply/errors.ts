/** What applying throws, besides conflicts and bad requests. */

import { StatusError } from '../status/status.ts';
import type { Status } from '../status/status.ts';

/**
 * A configuration that does not fit its type. kube-apiserver answers it as an error that it has no reason for: code 500
 * and a message only. The code of the error itself is `InternalError`.
 */
export class ApplyFailure extends StatusError {
  override readonly status: Status;

  constructor(message: string, cause?: unknown) {
    super('InternalError', message, { cause });
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 };
  }
}
