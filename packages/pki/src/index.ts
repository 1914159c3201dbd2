/**
 * pki: certificate authorities, the certificates that they issue, requests for certificates, and the kubeconfigs that carry them.
 * Keys that are made here are ECDSA on P-256; everything is PEM.
 */

export { createAuthority, crossCertificate, expiresAt, issueCertificate, newPrivateKey } from './certificates.ts';
export type { CertificateRequest, KeyPair, World } from './certificates.ts';
export { readCertificateRequest } from './certificate-requests.ts';
export type { RequestedCertificate, RequestedName } from './certificate-requests.ts';
export { newCertificateRequest } from './new-certificate-request.ts';
export type { KeyAndRequest, NewRequestOptions } from './new-certificate-request.ts';
export { PkiError } from './errors.ts';
export type { PkiErrorCode } from './errors.ts';
export { kubeconfig } from './kubeconfig.ts';
export type { KubeconfigOptions } from './kubeconfig.ts';
export { pooled } from './pooled.ts';
export { signRequest } from './signed-requests.ts';
export type { SignedRequestOptions } from './signed-requests.ts';
