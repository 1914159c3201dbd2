/**
 * The keys and certificates of this Hangar, in `pki/` of the data directory, readable by their owner only. Created at the first start;
 * recreated when they are about to expire or lack an address of the server.
 *
 * Servers on one etcd share the CAs and the key of tokens, in a folder that is read and never written: a missing file is an error, because
 * a replica that created its own CA would refuse the certificates of the others.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '@hangar/core';
import { expiresAt, issueCertificate } from '@hangar/pki';
import type { CertificateRequest, KeyPair, World } from '@hangar/pki';
import { UsageError } from '@hangar/core/command-line';
import { newAuthority, newTokenKey } from './authorities.ts';
import type { AuthorityName } from './authorities.ts';

/** Secrets that all servers on one store must share. */
export interface Authorities {
  readonly authority: KeyPair;
  /** Identifies this server to aggregated API servers: a dedicated CA, so that no certificate of a user is accepted for it. */
  readonly frontProxyAuthority: KeyPair;
  /** Signs the tokens of service accounts; PEM. */
  readonly serviceAccountKey: string;
}

export interface Credentials extends Authorities {
  readonly server: KeyPair;
  readonly admin: KeyPair;
  readonly frontProxy: KeyPair;
}

export interface CredentialPlaces {
  readonly dataDirectory: string;
  /** Folder of the authorities; absent: `pki/` of the data directory, where they are created. */
  readonly pkiDirectory?: string | undefined;
}

/** Common name of its certificate. */
export const frontProxyName = 'front-proxy-client';

const certificateDays = 365;
/** A certificate that expires sooner is renewed. */
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

export async function loadCredentials(
  { dataDirectory, pkiDirectory }: CredentialPlaces,
  hosts: readonly string[],
  world: World,
): Promise<Credentials> {
  const folder = join(dataDirectory, 'pki');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const authorities = await (pkiDirectory === undefined
    ? makeAuthorities(folder, world)
    : readAuthorities(pkiDirectory));
  const { authority, frontProxyAuthority } = authorities;
  const issued = (name: string, request: CertificateRequest, by = authority): Promise<KeyPair> =>
    keepOrIssue(join(folder, name), by, request, world);
  return {
    ...authorities,
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
    frontProxy: await issued(
      'front-proxy-client',
      { commonName: frontProxyName, usage: 'client', days: certificateDays },
      frontProxyAuthority,
    ),
  };
}

async function makeAuthorities(folder: string, world: World): Promise<Authorities> {
  return {
    authority: await keepOrCreate(folder, 'ca', world),
    frontProxyAuthority: await keepOrCreate(folder, 'front-proxy-ca', world),
    serviceAccountKey: await keepOrMakeKey(join(folder, 'sa')),
  };
}

/** Throws a UsageError that names the missing file. */
export async function readAuthorities(folder: string): Promise<Authorities> {
  const read = async (name: string): Promise<string> => {
    const text = await readIfThere(join(folder, name));
    if (text !== undefined) return text;
    throw new UsageError(
      `--pki-dir: ${join(folder, name)} is missing; "hangar pki init DIR" creates a directory with all files`,
    );
  };
  const pair = async (name: string): Promise<KeyPair> => ({
    certificate: await read(`${name}.crt`),
    key: await read(`${name}.key`),
  });
  return {
    authority: await pair('ca'),
    frontProxyAuthority: await pair('front-proxy-ca'),
    serviceAccountKey: await read('sa.key'),
  };
}

async function keepOrCreate(folder: string, name: AuthorityName, world: World): Promise<KeyPair> {
  const path = join(folder, name);
  return (await load(path)) ?? save(path, newAuthority(name, world));
}

async function keepOrMakeKey(path: string): Promise<string> {
  const kept = await readIfThere(`${path}.key`);
  if (kept !== undefined) return kept;
  const { key, publicKey } = newTokenKey();
  await writeSecret(`${path}.pub`, publicKey);
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
  // A crash between the two writes of a renewal leaves a pair that does not match.
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

/** Writes the certificate last: a pair without its certificate counts as missing. */
async function save(path: string, pair: KeyPair): Promise<KeyPair> {
  await writeSecret(`${path}.key`, pair.key);
  await writeSecret(`${path}.crt`, pair.certificate);
  return pair;
}

/** Atomic, readable by the owner only, and synced to disk: a lost key is a lost store. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  // Not available on Windows.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}
