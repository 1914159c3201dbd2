/**
 * The keys and certificates of this Hangar, in `pki/` of the data directory, readable by their owner only. Made at the
 * first start; what is about to expire, or does not name an address of the server, is made anew.
 */

import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '@hangar/core';
import { createAuthority, expiresAt, issueCertificate } from '@hangar/pki';
import type { CertificateRequest, KeyPair, World } from '@hangar/pki';

export interface Credentials {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  readonly admin: KeyPair;
  /** By which aggregated API servers know this one: a CA for this alone, so that no user's certificate passes for it. */
  readonly frontProxyAuthority: KeyPair;
  readonly frontProxy: KeyPair;
  /** Signs the tokens of service accounts; PEM. */
  readonly serviceAccountKey: string;
}

/** Of its certificate. */
export const frontProxyName = 'front-proxy-client';

const authorityDays = 3_650;
const certificateDays = 365;
/** Whatever expires sooner is renewed. */
const renewBeforeMs = 30 * 86_400_000;

/** Names that every server has: its own machine, and the service in the cluster. */
export const usualHosts = [
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
  const authority = await keepOrCreate(join(folder, 'ca'), 'hangar-ca', world);
  const frontProxyAuthority = await keepOrCreate(join(folder, 'front-proxy-ca'), 'hangar-front-proxy-ca', world);
  const issued = (name: string, request: CertificateRequest, by = authority): Promise<KeyPair> =>
    keepOrIssue(join(folder, name), by, request, world);
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
    frontProxyAuthority,
    frontProxy: await issued(
      'front-proxy-client',
      { commonName: frontProxyName, usage: 'client', days: certificateDays },
      frontProxyAuthority,
    ),
    serviceAccountKey: await keepOrMakeKey(join(folder, 'sa')),
  };
}

async function keepOrCreate(path: string, commonName: string, world: World): Promise<KeyPair> {
  return (await load(path)) ?? save(path, createAuthority(commonName, authorityDays, world));
}

/** With its public part beside it, for those who only verify. */
async function keepOrMakeKey(path: string): Promise<string> {
  const kept = await readIfThere(`${path}.key`);
  if (kept !== undefined) return kept;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  await writeSecret(`${path}.pub`, publicKey.export({ type: 'spki', format: 'pem' }));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeSecret(`${path}.key`, key);
  return key;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
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

/** As a whole or not at all, for the owner's eyes only, and there for good: a lost key is a lost store. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  // Windows has no such thing.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}
