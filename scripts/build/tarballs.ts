/** Writes the tarballs of staged packages, with `npm pack`. A package whose files did not change keeps its tarball. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.ts';

export const tarballFolder = join(root, 'dist/tarballs');
const digestFile = join(root, 'dist/tarballs.json');

/** `hangar` → `hangar-0.1.0.tgz`, `@hangar/client` → `hangar-client-0.1.0.tgz`, as npm names them. */
export const tarballName = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;

/** Returns the names of the tarballs that were written. Tarballs of other packages or versions are removed. */
export function packAll(folders: readonly string[]): string[] {
  mkdirSync(tarballFolder, { recursive: true });
  const before = existsSync(digestFile) ? (JSON.parse(readFileSync(digestFile, 'utf8')) as Record<string, string>) : {};
  const digests: Record<string, string> = {};
  const changed: string[] = [];
  for (const folder of folders) {
    const name = tarballName(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    digests[name] = digestOf(folder);
    if (before[name] !== digests[name] || !existsSync(join(tarballFolder, name))) changed.push(folder);
  }
  for (const name of globSync('*.tgz', { cwd: tarballFolder })) {
    if (!Object.hasOwn(digests, name)) rmSync(join(tarballFolder, name));
  }
  rmSync(digestFile, { force: true });
  const packed = changed.length === 0 ? [] : pack(changed);
  writeFileSync(digestFile, JSON.stringify(digests));
  return packed;
}

function pack(folders: readonly string[]): string[] {
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${tarballFolder}`, ...folders];
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  return stdout.split('\n').filter(Boolean);
}

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const path of globSync('**/*', { cwd: folder }).sort()) {
    if (statSync(join(folder, path)).isDirectory()) continue;
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(folder, path)));
  }
  return hash.digest('hex');
}
