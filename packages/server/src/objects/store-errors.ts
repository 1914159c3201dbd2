/** Maps errors of the store to Status errors. */

import { badRequest, serviceUnavailable, StatusError, tooLarge, tooManyRequests } from '@hangar/api';

const retryAfterSeconds = 1;

/** Returns undefined for internal errors. */
export function statusOfStoreError(error: unknown): StatusError | undefined {
  if (!(error instanceof Error)) return undefined;
  switch ((error as { code?: unknown }).code) {
    // A name or continue token that is not a valid key: too long, or with control characters. The message does not show the key, which is
    // internal.
    case 'InvalidKey':
      return badRequest('the name or the continue token is too long or contains invalid characters', error);
    case 'ValueTooLarge':
      return tooLarge(error.message);
    case 'Overloaded':
      return tooManyRequests('too many writes are waiting, please try again later', retryAfterSeconds);
    case 'StorageFull':
    case 'StorageReadOnly':
      return serviceUnavailable(`the store is not writable: ${error.message}`);
    // A retry reaches the current owner, or gets an error that there is none.
    case 'Fenced':
      return new StatusError('ServiceUnavailable', 'the control plane was closed, please try again', {
        details: { retryAfterSeconds },
        cause: error,
      });
    case 'Unavailable':
    case 'Closed':
      return new StatusError('ServiceUnavailable', 'the store cannot be reached', {
        details: { retryAfterSeconds },
        cause: error,
      });
    default:
      return undefined;
  }
}
