/** Errors that mean that there is nothing to do. */

import { StatusError } from '@hangar/api/status';
import { hasCode } from '@hangar/core';

/**
 * A concurrent change came first: the object exists, was deleted, or its namespace is terminating. The feed delivers that change, and it is
 * handled then.
 */
export const isOvertaken = (error: unknown): boolean =>
  hasCode(error, 'AlreadyExists') ||
  hasCode(error, 'NotFound') ||
  hasCode(error, 'Conflict') ||
  isOfTerminatingNamespace(error);

function isOfTerminatingNamespace(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}

/** Awaits a write that may come too late. Returns false if it did. */
export async function unlessOvertaken(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isOvertaken(error)) return false;
    throw error;
  }
}
