/**
 * The keys and certificates of this Hangar, in `pki/` of the data directory, readable by their owner only. Made at the
 * first start; what is about to expire, or does not name an address of the server, is made anew.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@hangar/core';
import { createAuthority, expiresAt, issueCertificate } from '@hangar/pki';
import type { CertificateRequest, KeyPair, World } from '@hangar/pki';

export interface Credentials {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  readonly admin: KeyPair;
}

const authorityDays = 3_650;
const certificateDays = 365;
/** Whatever expires sooner is renewed. */
const renewBeforeMs = 30 * 86_400_000;

/** Names that every server has: its own machine, and the service in the cluster. */
const usualHosts = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

export async function loadCredentials(directory: string, hosts: readonly string[], world: World): Promise<Credentials> {
  const folder = join(directory, 'pki');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = await load(join(folder, 'ca'));
  const authority = kept ?? (await save(join(folder, 'ca'), createAuthority('hangar-ca', authorityDays, world)));
  const issued = (name: string, request: CertificateRequest): Promise<KeyPair> =>
    keepOrIssue(join(folder, name), authority, request, world);
  return {
    authority,
    server: await issued('server', {
      commonName: 'hangar',
      usage: 'server',
      hosts: [...new Set([...usualHosts, hostname(), ...hosts])],
      days: certificateDays,
    }),
    admin: await issued('admin', {
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
      usage: 'client',
      days: certificateDays,
    }),
  };
}

async function keepOrIssue(
  path: string,
  authority: KeyPair,
  request: CertificateRequest,
  world: World,
): Promise<KeyPair> {
  const kept = await load(path);
  if (kept && isGood(kept, authority, request, world.clock)) return kept;
  return save(path, issueCertificate(authority, request, world));
}

function isGood(kept: KeyPair, authority: KeyPair, request: CertificateRequest, clock: Clock): boolean {
  if (expiresAt(kept.certificate) - renewBeforeMs < clock.now()) return false;
  const certificate = new X509Certificate(kept.certificate);
  // A crash between the two files of a renewal leaves a pair that is none.
  if (!certificate.checkPrivateKey(createPrivateKey(kept.key))) return false;
  if (!certificate.verify(new X509Certificate(authority.certificate).publicKey)) return false;
  return (request.hosts ?? []).every(
    (host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  );
}

async function load(path: string): Promise<KeyPair | undefined> {
  try {
    const [certificate, key] = await Promise.all([readFile(`${path}.crt`, 'utf8'), readFile(`${path}.key`, 'utf8')]);
    return { certificate, key };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The certificate last: a pair without its certificate is not there. */
async function save(path: string, pair: KeyPair): Promise<KeyPair> {
  await writeSecret(`${path}.key`, pair.key);
  await writeSecret(`${path}.crt`, pair.certificate);
  return pair;
}

/** As a whole or not at all, for the owner's eyes only. */
export async function writeSecret(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
