/** Requests for certificates in tests. */

import { newCertificateRequest } from '../new-certificate-request.ts';
import type { NewRequestOptions } from '../new-certificate-request.ts';

export { newCertificateRequest as newRequest, requestPem } from '../new-certificate-request.ts';
export type { KeyAndRequest, NewRequestOptions as RequestOptions } from '../new-certificate-request.ts';

/** Returns base64 of PEM, as in an object. */
export const certificateRequest = (
  commonName: string,
  organizations: readonly string[] = [],
  options: NewRequestOptions = {},
): string => Buffer.from(newCertificateRequest(commonName, organizations, options).pem).toString('base64');
