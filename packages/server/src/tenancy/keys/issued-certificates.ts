/**
 * Remembers which client certificates this process issued with the CA of a tenant. Most kubeconfigs are used within seconds after
 * they are issued, and the verification of a signature takes longer than to sign.
 */

import { hash } from 'node:crypto';
import type { KeyPair } from '@hangar/pki';

/** SHA-256 of the DER form, in hexadecimal digits. They go with the key pair. */
const issued = new WeakMap<KeyPair, Set<string>>();
/** For each CA; the oldest goes first. */
const issuedMax = 16;

/** `certificate`: signed with the key of the authority; PEM. */
export function rememberIssued(authority: KeyPair, certificate: string): void {
  const digests = issued.get(authority) ?? new Set();
  issued.set(authority, digests);
  digests.add(hash('sha256', Buffer.from(certificate.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')));
  if (digests.size > issuedMax) digests.delete(digests.values().next().value!);
}

/** Returns whether the authority signed the certificate with this digest. False: not known, its signature must be verified. */
export const hasIssued = (authority: KeyPair, digest: string): boolean => issued.get(authority)?.has(digest) ?? false;
