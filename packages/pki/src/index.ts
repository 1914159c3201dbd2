/**
 * pki: certificate authorities, the certificates that they issue, and the kubeconfigs that carry them. Keys are ECDSA on
 * P-256; everything is PEM.
 */

export { createAuthority, expiresAt, issueCertificate, newPrivateKey } from './certificates.ts';
export type { CertificateRequest, KeyPair, World } from './certificates.ts';
export { kubeconfig } from './kubeconfig.ts';
export type { KubeconfigOptions } from './kubeconfig.ts';
