/**
 * One attempt to answer a request. If the tenant is closed meanwhile, because a migration holds it, the request is repeated when the hold
 * ends. That is safe only if the attempt has written nothing.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { hasCode } from '@hangar/core';
import type { CommitResult } from '@hangar/store';

export interface Attempt {
  /** A transaction of the attempt was committed, or may have been. */
  hasWritten: boolean;
}

const running = new AsyncLocalStorage<Attempt>();

export const runAttempt = <Result>(attempt: Attempt, handle: () => Result): Result => running.run(attempt, handle);

/** Records a commit in the attempt that makes it. */
export async function recorded(commit: Promise<CommitResult>): Promise<CommitResult> {
  try {
    const result = await commit;
    if (result.committed) markWritten();
    return result;
  } catch (error) {
    if (hasCode(error, 'StorageFailed') || hasCode(error, 'Unavailable')) markWritten();
    throw error;
  }
}

/** Records whether the current attempt may have written something. */
export function markWritten(hasWritten = true): void {
  const attempt = running.getStore();
  if (attempt) attempt.hasWritten = hasWritten;
}
