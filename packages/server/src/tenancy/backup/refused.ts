/** Errors for backups that are refused. */

import { badRequest } from '@hangar/api';
import type { StatusError } from '@hangar/api';

export const refused = (problem: string, cause?: unknown): StatusError =>
  badRequest(`the backup cannot be restored: ${problem}`, cause);
