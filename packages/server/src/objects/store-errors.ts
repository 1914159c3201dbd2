/** The one place where the store's errors become answers. */

import { badRequest, serviceUnavailable, StatusError, tooLarge, tooManyRequests } from '@hangar/api';

const retryAfterSeconds = 1;

/** Undefined for what is nobody's fault but the server's own. */
export function statusOfStoreError(error: unknown): StatusError | undefined {
  if (!(error instanceof Error)) return undefined;
  switch ((error as { code?: unknown }).code) {
    // A name, or a token that names one, that no key can hold: too long, or with control characters.
    // What the key is, is the server's own business.
    case 'InvalidKey':
      return badRequest('the name or the continue token is too long or contains invalid characters', error);
    case 'ValueTooLarge':
      return tooLarge(error.message);
    case 'Overloaded':
      return tooManyRequests('too many writes are waiting, please try again later', retryAfterSeconds);
    case 'StorageFull':
    case 'StorageReadOnly':
      return serviceUnavailable(`the store is not writable: ${error.message}`);
    // Whoever asks again is led to what stands there now, or told that nothing does.
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
