/** Refusals that mean that there is nothing to do. */

import { StatusError } from '@hangar/api/status';
import { hasCode } from '@hangar/core';

/** Somebody was faster: it is there, it has gone, or its namespace goes. What they did is told, and looked at then. */
export const isOvertaken = (error: unknown): boolean =>
  hasCode(error, 'AlreadyExists') ||
  hasCode(error, 'NotFound') ||
  hasCode(error, 'Conflict') ||
  isOfTerminatingNamespace(error);

function isOfTerminatingNamespace(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}

/** Waits for a write that may come too late. False: it did. */
export async function unlessOvertaken(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isOvertaken(error)) return false;
    throw error;
  }
}
