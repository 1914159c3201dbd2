/**
 * A key pair that signs: an authority, or the key of service accounts. A rotation replaces it in three steps, each of which is visible in
 * Secrets, so that another operator can continue:
 *
 *     Secret     demo-ca-next   demo-ca   demo-ca-previous   trusted
 *     before                    X                            X
 *     1. trust   Y              X                            X, Y
 *     2. sign                   Y         X                  Y, X
 *     3. drop                   Y                            Y
 *
 * Between steps, all components have started again or have read their files again. The Secret of the previous authority also has a
 * cross certificate: Y, signed by X. Servers send it, so that clients and nodes that trust only X still accept them in step 2.
 */

import { X509Certificate } from 'node:crypto';
import type { Secret } from '@hangar/client/kinds/core-v1';
import { crossCertificate } from '@hangar/pki';
import type { KeyPair, World } from '@hangar/pki';
import { base64, textIn } from './secrets.ts';

export const signerNames = ['ca', 'etcd', 'proxy', 'sa'] as const;
export type SignerName = (typeof signerNames)[number];

/** For service accounts, certificates are public keys. */
export interface Signer extends KeyPair {
  /** PEM of the certificate that signs after the next step. Absent: none. */
  readonly next?: string | undefined;
  /** PEM of all certificates that components and clients trust. The first one is that of the pair. */
  readonly trusted: string;
  /** PEM that follows issued certificates: the cross certificate, or empty. */
  readonly chain: string;
}

export const nextName = (name: string): string => `${name}-next`;
export const previousName = (name: string): string => `${name}-previous`;

/** Keys of the Secret of a previous pair. `tls.crt` and `tls.key` are the current pair under the previous authority. */
export const previousKeys = { trusted: 'ca.crt', chain: 'tls.crt' } as const;

/** `next` and `previous` that are the same as `current` are leftovers of an interrupted step. */
export function signerOf(current: KeyPair, next: KeyPair | undefined, previous: Secret | undefined): Signer {
  const { certificate } = current;
  const before = textIn(previous, previousKeys.trusted);
  const [after, hasBefore] = [next?.certificate ?? certificate, before !== '' && before !== certificate];
  return {
    ...current,
    ...(after === certificate ? {} : { next: after }),
    trusted: joined([certificate, ...(after === certificate ? [] : [after]), ...(hasBefore ? [before] : [])]),
    chain: hasBefore ? textIn(previous, previousKeys.chain) : '',
  };
}

/** Returns the data of the Secret of the previous pair. Service accounts have no cross certificate. */
export function previousData(name: SignerName, before: KeyPair, after: KeyPair, world: World): Record<string, string> {
  const trusted = { [previousKeys.trusted]: base64(before.certificate) };
  if (name === 'sa') return trusted;
  const cross = crossCertificate(before, after.certificate, world);
  return { ...trusted, [previousKeys.chain]: base64(cross), 'tls.key': base64(after.key) };
}

const joined = (all: readonly string[]): string => all.map((pem) => `${pem.trimEnd()}\n`).join('');

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  );

/**
 * Reports whether components and clients accept the authority, given the certificates that they trust: one of them has its key, or all of
 * them have expired.
 */
export function isTrusted({ certificate }: KeyPair, trusted: string, nowMs: number): boolean {
  const { publicKey } = new X509Certificate(certificate);
  const valid = certificatesIn(trusted).filter(({ validTo }) => Date.parse(validTo) > nowMs);
  return valid.length === 0 || valid.some((one) => one.publicKey.equals(publicKey));
}
