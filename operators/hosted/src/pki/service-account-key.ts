/** The key pair that signs tokens of service accounts, as Cluster API stores it: the public key in tls.crt. */

import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Secret } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import { pooled } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import type { Fault } from '../fault.ts';
import { missing, typeFault } from './authorities.ts';
import { base64, quoted, textIn } from './secrets.ts';

/** PEM. */
export const publicKeyOf = (key: string): string =>
  createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' }) as string;

export async function newServiceAccountKey(): Promise<Record<string, string>> {
  const key = await pooled.newPrivateKey();
  return { 'tls.crt': base64(publicKeyOf(key)), 'tls.key': base64(key) };
}

/** Returns the pair, with the public key as its certificate, or the fault that makes it unusable. */
export const serviceAccountKeyIn = (secret: Secret): KeyPair | Fault =>
  serviceAccountFault(secret) ?? { certificate: textIn(secret, 'tls.crt'), key: textIn(secret, 'tls.key') };

function serviceAccountFault(secret: Secret): Fault | undefined {
  const wrong = typeFault(secret);
  if (wrong) return wrong;
  const [publicKey, key] = [textIn(secret, 'tls.crt'), textIn(secret, 'tls.key')];
  if (key === '') return missing(secret, 'MissingServiceAccountKey', 'tls.key', 'the private key that signs tokens');
  if (publicKey === '')
    return missing(secret, 'MissingServiceAccountKey', 'tls.crt', 'the public key that verifies tokens');
  try {
    const wanted = createPublicKey(publicKey).export({ type: 'spki', format: 'pem' });
    if (wanted === publicKeyOf(key)) return undefined;
    return {
      reason: 'InvalidServiceAccountKey',
      message: `${quoted(secret)} is not valid: tls.key is not the key of tls.crt`,
    };
  } catch (error) {
    return { reason: 'InvalidServiceAccountKey', message: `${quoted(secret)} is not valid: ${asError(error).message}` };
  }
}
