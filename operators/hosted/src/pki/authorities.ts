/**
 * Certificate authorities in Secrets. An authority that exists is used: users can supply their own. It is never
 * replaced or changed.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Secret } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import { clusterSecretType } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import { quoted, textIn } from './secrets.ts';

/** Types that a Secret with an authority can have. */
const authorityTypes = new Set([clusterSecretType, 'kubernetes.io/tls']);

/** Returns the authority in a Secret, or the fault that makes it unusable. */
export function authorityIn(secret: Secret, nowMs: number): KeyPair | Fault {
  const wrong = typeFault(secret);
  if (wrong) return wrong;
  const [certificate, key] = [textIn(secret, 'tls.crt'), textIn(secret, 'tls.key')];
  if (certificate === '') return missing(secret, 'MissingCACertificate', 'tls.crt', 'the certificate of the authority');
  if (key === '')
    return missing(secret, 'MissingCAKey', 'tls.key', 'the private key of the authority, which signs certificates');
  return pairFault(secret, { certificate, key }, nowMs) ?? { certificate, key };
}

export function typeFault(secret: Secret): Fault | undefined {
  const { type = 'Opaque' } = secret;
  if (authorityTypes.has(type)) return undefined;
  const message = `${quoted(secret)} has type ${type}: delete it, or create it again with type ${clusterSecretType}`;
  return { reason: 'WrongSecretType', message };
}

export const missing = (secret: Secret, reason: string, key: string, what: string): Fault => ({
  reason,
  message: `${quoted(secret)} has no key ${key}: add ${what}`,
});

function pairFault(secret: Secret, { certificate, key }: KeyPair, nowMs: number): Fault | undefined {
  const invalid = (why: string): Fault => ({ reason: 'InvalidCA', message: `${quoted(secret)} is not valid: ${why}` });
  try {
    const parsed = new X509Certificate(certificate);
    if (!parsed.ca) return invalid('the certificate is not that of an authority (CA:TRUE is missing)');
    if (!parsed.checkPrivateKey(createPrivateKey(key))) return invalid('tls.key is not the key of tls.crt');
    if (Date.parse(parsed.validTo) > nowMs) return undefined;
    return {
      reason: 'CAExpired',
      message: `the certificate in ${quoted(secret)} expired at ${parsed.validTo}: replace it`,
    };
  } catch (error) {
    return invalid(asError(error).message);
  }
}
