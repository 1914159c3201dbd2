/** What a CertificateSigningRequest says, and where it is on its way. */

import { certificateRequestSubject } from '@hangar/api';
import type { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { isDeepStrictEqual } from 'node:util';
import { PkiError, readCertificateRequest } from '@hangar/pki';
import type { RequestedCertificate } from '@hangar/pki';

type Decision = 'Approved' | 'Denied' | 'Failed';

/** Whatever the condition's status is: only for failures Kubernetes looks at it. */
export function hasCondition({ status }: CertificateSigningRequest, type: Decision): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === type && (type !== 'Failed' || isTrue(condition.status)),
  );
}

const isTrue = (status: string | undefined): boolean => status === undefined || status === '' || status === 'True';

export const isIssued = ({ status }: CertificateSigningRequest): boolean => (status?.certificate ?? '') !== '';

export const usageNames = ({ spec }: CertificateSigningRequest): ReadonlySet<string> => new Set(spec.usages ?? []);

/**
 * Throws a `PkiError` when it cannot be read without a doubt. Admission has read it, too, and refused names that nobody may have: it
 * must have seen the same ones.
 */
export function requestedBy({ spec }: CertificateSigningRequest): RequestedCertificate {
  const pem = Buffer.from(spec.request, 'base64').toString('latin1');
  const request = readCertificateRequest(pem);
  const { commonName, organizations } = request.subject;
  if (!isDeepStrictEqual(certificateRequestSubject(pem), { commonName, organizations })) {
    throw new PkiError('MalformedRequest', 'the subject of the certificate signing request is ambiguous');
  }
  return request;
}
