/** What is wrong with what others sent. Test the code. */

import { CodedError } from '@hangar/core';

export type PkiErrorCode =
  /** It is no PKCS #10 request, or one that cannot be read without a doubt. */
  | 'MalformedRequest'
  /** It was not signed with the key that it is for. */
  | 'InvalidSignature'
  /** The CA cannot sign any more, or not with this kind of key. */
  | 'AuthorityUnusable';

export class PkiError extends CodedError<PkiErrorCode> {}
