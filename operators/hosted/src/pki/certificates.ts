/**
 * Certificates of components in Secrets of type kubernetes.io/tls. An annotation has the digest of the request and of the authority, so
 * that a Secret that is up to date is recognized without issuing its certificate again.
 */

import { X509Certificate } from 'node:crypto';
import type { Secret } from '@hangar/client/kinds/core-v1';
import { pooled } from '@hangar/pki';
import type { CertificateRequest, KeyPair, World } from '@hangar/pki';
import { annotations } from '../api/index.ts';
import type { CertificateWish } from '../render/index.ts';
import type { Signer } from './signer.ts';
import { base64, digestOf, textIn } from './secrets.ts';

const dayMs = 86_400_000;
const lifetimeDays = 365;

/** A certificate is renewed when this part of its lifetime has passed. */
const leafRenewalPart = 2 / 3;

export const requestDigest = (request: object, { certificate, chain }: Omit<Signer, 'trusted'>): string =>
  digestOf([request, certificate, chain]);

/** Milliseconds since 1970 at which the certificate must be renewed. 0: it cannot be read. */
export function renewsAtMs(certificate: string, renewalPart = leafRenewalPart): number {
  try {
    const { validFrom, validTo } = new X509Certificate(certificate);
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return from + (to - from) * renewalPart;
  } catch {
    return 0;
  }
}

/** Reports whether the Secret has the certificate of this request and authority, unmodified, and is not due for renewal. */
export function isCurrent(
  secret: Secret,
  { digest, authority, nowMs }: { digest: string; authority: KeyPair; nowMs: number },
): boolean {
  if (secret.metadata.annotations?.[annotations.request] !== digest) return false;
  const certificate = textIn(secret, 'tls.crt');
  if (renewsAtMs(certificate) <= nowMs || textIn(secret, 'tls.key') === '') return false;
  return new X509Certificate(certificate).verify(new X509Certificate(authority.certificate).publicKey);
}

/** A certificate never outlives its authority. */
export function lifetimeOf(authority: KeyPair, wantedDays: number, nowMs: number): number {
  const left = (Date.parse(new X509Certificate(authority.certificate).validTo) - nowMs) / dayMs;
  return Math.min(wantedDays, left);
}

/** Returns the data of the Secret. */
export async function issued(
  wish: CertificateWish,
  authority: Pick<Signer, 'certificate' | 'key' | 'chain'>,
  world: World,
): Promise<Record<string, string>> {
  const { commonName, organizations, usage, hosts, days = lifetimeDays } = wish;
  const request: CertificateRequest = {
    commonName,
    usage,
    ...(organizations ? { organizations } : {}),
    ...(hosts ? { hosts } : {}),
    days: lifetimeOf(authority, days, world.clock.now()),
  };
  const { certificate, key } = await pooled.issueCertificate(authority, request, world);
  const chain = certificate + authority.chain;
  return { 'ca.crt': base64(authority.certificate), 'tls.crt': base64(chain), 'tls.key': base64(key) };
}
