/**
 * Certificates that `hangar credential` has issued, in files that only their owner can read: kubectl runs the plugin for every command. A
 * certificate is used until a fifth of its lifetime is left.
 */

import { createHash, X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeSecretFile } from '../kubeconfig/secret-file.ts';
import type { Session } from '../session.ts';
import type { UserCertificate, WantedUser } from './user-certificate.ts';

type Place = Pick<Session, 'env' | 'homeFolder' | 'clock'>;

/** `uid`: of the control plane. Another control plane of the same name does not accept the certificate. */
export function cacheFile({ env, homeFolder }: Place, uid: string, wanted: WantedUser): string {
  const folder = env['XDG_CACHE_HOME'] || join(homeFolder, '.cache');
  const { user, groups, expirationSeconds } = wanted;
  const digest = createHash('sha256')
    .update(JSON.stringify([uid, user, groups, expirationSeconds]))
    .digest('hex');
  return join(folder, 'hangar', 'credentials', `${digest}.json`);
}

/** Returns undefined if there is none, or if it must be renewed. */
export async function cachedCertificate({ clock }: Place, file: string): Promise<UserCertificate | undefined> {
  try {
    const { certificate, key } = JSON.parse(await readFile(file, 'utf8')) as UserCertificate;
    return isFresh(certificate, clock.now()) && typeof key === 'string' ? { certificate, key } : undefined;
  } catch {
    return undefined;
  }
}

export async function cacheCertificate(file: string, { certificate, key }: UserCertificate): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeSecretFile(file, JSON.stringify({ certificate, key }));
}

/** Returns the time in milliseconds since 1970. */
export const renewalOf = (certificate: string): number => {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return validToDate.getTime() - (validToDate.getTime() - validFromDate.getTime()) / 5;
};

const isFresh = (certificate: string, now: number): boolean => now < renewalOf(certificate);
