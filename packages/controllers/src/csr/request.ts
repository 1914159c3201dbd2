/** Decodes a CertificateSigningRequest and its state. */

import { certificateRequestSubject } from '@hangar/api';
import type { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { isDeepStrictEqual } from 'node:util';
import { PkiError, readCertificateRequest } from '@hangar/pki';
import type { RequestedCertificate } from '@hangar/pki';

type Decision = 'Approved' | 'Denied' | 'Failed';

/** Ignores the status of the condition: Kubernetes checks it only for failures. */
export function hasCondition({ status }: CertificateSigningRequest, type: Decision): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === type && (type !== 'Failed' || isTrue(condition.status)),
  );
}

const isTrue = (status: string | undefined): boolean => status === undefined || status === '' || status === 'True';

export const isIssued = ({ status }: CertificateSigningRequest): boolean => (status?.certificate ?? '') !== '';

export const usageNames = ({ spec }: CertificateSigningRequest): ReadonlySet<string> => new Set(spec.usages ?? []);

/**
 * Throws a `PkiError` if the request is ambiguous or malformed. Admission parsed it too, and rejected forbidden names: both must read the
 * same names.
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
