/**
 * The keys that all servers on one store share, as files for `--pki-dir`, `--encryption-provider-config` and `--token-file`. The same
 * names are the keys of a Secret, so that a folder and a mounted Secret are interchangeable.
 *
 * A part is created atomically, and never if some of its files exist: a CA whose key is lost cannot be recreated, and another CA would lock
 * out all clients.
 */

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '@hangar/pki';
import { UsageError } from '@hangar/core/command-line';
import { newAuthority, newTokenKey } from '../compose/authorities.ts';
import type { AuthorityName } from '../compose/authorities.ts';
import { writeSecret } from '../compose/credentials.ts';
import { newEncryptionConfiguration } from '../compose/encryption-key.ts';

export type PkiFiles = Readonly<Record<string, string>>;

interface Part {
  readonly files: readonly string[];
  make(world: World): PkiFiles;
}

/** May read `/metrics` and health, by the default policy, and nothing else. */
const metricsUser = { name: 'hangar-metrics', group: 'system:monitoring' };
const tokenBytes = 32;

const parts: readonly Part[] = [
  authorityPart('ca'),
  authorityPart('front-proxy-ca'),
  {
    files: ['sa.pub', 'sa.key'],
    make() {
      const { key, publicKey } = newTokenKey();
      return { 'sa.pub': publicKey, 'sa.key': key };
    },
  },
  {
    files: ['encryption.yaml'],
    make: ({ random }) => ({ 'encryption.yaml': newEncryptionConfiguration(random) }),
  },
  {
    // A token instead of a certificate: it can be revoked, and does not expire unexpectedly.
    files: ['metrics-token', 'tokens.csv'],
    make({ random }) {
      const token = Buffer.from(random.bytes(tokenBytes)).toString('base64url');
      const line = `${token},${metricsUser.name},${metricsUser.name},"${metricsUser.group}"\n`;
      return { 'metrics-token': token, 'tokens.csv': line };
    },
  },
];

function authorityPart(name: AuthorityName): Part {
  return {
    files: [`${name}.key`, `${name}.crt`],
    make(world) {
      const { key, certificate } = newAuthority(name, world);
      return { [`${name}.key`]: key, [`${name}.crt`]: certificate };
    },
  };
}

/** Creates all parts. */
export const newPki = (world: World): PkiFiles => Object.assign({}, ...parts.map((part) => part.make(world)));

/** Creates the missing parts of the folder, and returns their files. */
export async function initPki(folder: string, world: World): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const present = new Set(await readdir(folder));
  const missing = parts.filter(({ files }) => files.every((file) => !present.has(file)));
  for (const part of parts) {
    const lost = part.files.filter((file) => !present.has(file));
    if (lost.length > 0 && !missing.includes(part)) {
      const kept = part.files.filter((file) => present.has(file));
      throw new UsageError(
        `${folder} has ${kept.join(', ')} but not ${lost.join(', ')}: restore the missing files, or remove the others`,
      );
    }
  }
  for (const part of missing) {
    const made = part.make(world);
    for (const file of part.files) await writeSecret(join(folder, file), made[file]!);
  }
  return missing.flatMap(({ files }) => files);
}
