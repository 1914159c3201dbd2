/** Transient errors that are not about the control plane: a concurrent write, a stale cache, or the shutdown of the operator. */

import { hasCode } from '@hangar/core';

export const isPassing = (error: unknown): boolean =>
  ['Conflict', 'AlreadyExists', 'Fenced', 'Aborted'].some((code) => hasCode(error, code));
