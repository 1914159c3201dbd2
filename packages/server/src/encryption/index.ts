/** Encryption at rest, in kube-apiserver's own format. */

export { encryptionOf, EncryptionConfigurationError } from './configuration.ts';
export { EncryptedStore } from './encrypted-store.ts';
export type { TransformerOf } from './encrypted-store.ts';
export { isSealed } from './provider.ts';
