/**
 * A certificate that this process creates when none is configured: signed by an authority whose key is discarded at once. Stored in a
 * folder, readable by its owner only, so that clients that trust it still do after a restart. Recreated in its last thirty days, when it
 * lacks a name, when its files are invalid, and when another user could have written them.
 *
 *   <folder>/hangar-controller-manager.crt   the certificate, and its authority behind it
 *   <folder>/hangar-controller-manager.key
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { asError, sleep } from '@hangar/core';
import { createAuthority, expiresAt, issueCertificate } from '@hangar/pki';
import type { World } from '@hangar/pki';
import type { CertificatePair, Certificates } from '@hangar/runtime/webhooks';
import { ServeError } from '../errors.ts';

export interface OwnCertificateOptions {
  /** Undefined: it is not stored. */
  readonly folder: string | undefined;
  /** Names and addresses of the server. */
  readonly hosts: readonly string[];
  readonly world: World;
}

const name = 'hangar-controller-manager';
const days = 365;
const renewBeforeMs = 30 * 86_400_000;
/** After a failed write. */
const retryMs = 3_600_000;

export function ownCertificate(options: OwnCertificateOptions): Certificates {
  const { world } = options;
  return {
    read: () => keptOrMade(options),
    async watch(known, observer, signal) {
      let waitMs = untilRenewal(known, world);
      for (;;) {
        try {
          await sleep(world.clock, Math.max(0, waitMs), signal);
        } catch {
          return;
        }
        observer.onRead();
        try {
          const pair = await keptOrMade(options);
          if (signal.aborted) return;
          observer.onChange(pair);
          waitMs = untilRenewal(pair, world);
        } catch (error) {
          observer.onError(asError(error));
          waitMs = retryMs;
        }
      }
    },
  };
}

const untilRenewal = ({ certificate }: CertificatePair, { clock }: World): number =>
  expiresAt(certificate) - renewBeforeMs - clock.now();

async function keptOrMade(options: OwnCertificateOptions): Promise<CertificatePair> {
  const { folder } = options;
  if (folder === undefined) return newPair(options);
  try {
    return (await kept(folder, options)) ?? (await save(folder, newPair(options), options));
  } catch (error) {
    throw new ServeError('CertificateUnusable', `failed to write the certificate: ${asError(error).message}`, {
      cause: error,
    });
  }
}

function newPair({ hosts, world }: OwnCertificateOptions): CertificatePair {
  const authority = createAuthority(`${name}-ca`, days, world);
  const { certificate, key } = issueCertificate(authority, { commonName: name, usage: 'server', hosts, days }, world);
  return { certificate: `${certificate}${authority.certificate}`, key };
}

/** Undefined: missing or unusable. */
async function kept(folder: string, { hosts, world }: OwnCertificateOptions): Promise<CertificatePair | undefined> {
  try {
    if (!isOwn(await stat(folder), othersMayRead)) return undefined;
    const [certificate, key] = await Promise.all([
      readOwn(join(folder, `${name}.crt`), othersMayRead),
      readOwn(join(folder, `${name}.key`), onlyOwner),
    ]);
    const pair = { certificate, key };
    const parsed = new X509Certificate(pair.certificate);
    const isUsable =
      untilRenewal(pair, world) > 0 &&
      // A crash between the two writes leaves a pair that does not match.
      parsed.checkPrivateKey(createPrivateKey(pair.key)) &&
      hosts.every((host) => (isIP(host) === 0 ? parsed.checkHost(host) : parsed.checkIP(host)) !== undefined);
    return isUsable ? pair : undefined;
  } catch {
    return undefined;
  }
}

/** Permission bits that a file must not have for others. */
const othersMayRead = 0o022;
const onlyOwner = 0o077;

/** A folder may be owned by root: volumes are. */
const isOwn = (found: Stats, forbidden: number): boolean =>
  (found.mode & forbidden) === 0 && (found.uid === process.getuid!() || (found.isDirectory() && found.uid === 0));

/** Does not follow links. Rejects when other users have access. */
async function readOwn(path: string, forbidden: number): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  if (!isOwn(await file.stat(), forbidden)) throw new Error(`${path} is accessible to other users`);
  return await file.readFile('utf8');
}

async function save(folder: string, pair: CertificatePair, { world }: OwnCertificateOptions): Promise<CertificatePair> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const suffix = Buffer.from(world.random.bytes(8)).toString('hex');
  for (const [kind, text] of [
    ['key', pair.key],
    ['crt', pair.certificate],
  ] as const) {
    const path = join(folder, `${name}.${kind}`);
    // Does not follow planted links, and is atomic.
    await writeFile(`${path}.${suffix}`, text, { mode: 0o600, flag: 'wx' });
    try {
      await rename(`${path}.${suffix}`, path);
    } catch (error) {
      await rm(`${path}.${suffix}`, { force: true });
      throw error;
    }
  }
  return pair;
}
