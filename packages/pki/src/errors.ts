/** Errors of untrusted input. Test the code. */

import { CodedError } from '@hangar/core';

export type PkiErrorCode =
  /** Not a PKCS #10 request, or an ambiguous one. */
  | 'MalformedRequest'
  /** Not signed with the key of the request. */
  | 'InvalidSignature'
  /** The CA can no longer sign, or not with this kind of key. */
  | 'AuthorityUnusable';

export class PkiError extends CodedError<PkiErrorCode> {}
