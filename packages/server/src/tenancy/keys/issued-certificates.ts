/**
 * Remembers which client certificates this process issued with the CA of a tenant. Most kubeconfigs are used within seconds after they are
 * issued, and verifying a signature takes longer than signing.
 */

import { hash } from 'node:crypto';
import type { KeyPair } from '@hangar/pki';

/** SHA-256 of the DER form, in hexadecimal digits. Collected with the key pair. */
const issued = new WeakMap<KeyPair, Set<string>>();
/** Maximum per CA; the oldest is removed first. */
const issuedMax = 16;

/** `certificate`: signed with the key of the authority; PEM. */
export function rememberIssued(authority: KeyPair, certificate: string): void {
  const digests = issued.get(authority) ?? new Set();
  issued.set(authority, digests);
  digests.add(hash('sha256', Buffer.from(certificate.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')));
  if (digests.size > issuedMax) digests.delete(digests.values().next().value!);
}

/** Reports whether the authority signed the certificate with this digest. False: unknown, the signature must be verified. */
export const hasIssued = (authority: KeyPair, digest: string): boolean => issued.get(authority)?.has(digest) ?? false;
