/** Errors that say nothing about the control plane: somebody was faster, a cache is behind, or the operator ends. */

import { hasCode } from '@hangar/core';

export const isPassing = (error: unknown): boolean =>
  ['Conflict', 'AlreadyExists', 'Fenced', 'Aborted'].some((code) => hasCode(error, code));
