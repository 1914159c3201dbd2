/** Errors that kube-apiserver does not explain: 500 with a message, and no reason. */

import { StatusError } from '@hangar/api';
import type { Status } from '@hangar/api';

class UnexplainedError extends StatusError {
  override readonly status: Status;

  constructor(message: string) {
    super('InternalError', message);
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 };
  }
}

export const unexplained = (message: string): StatusError => new UnexplainedError(message);
