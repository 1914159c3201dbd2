/** Writes image layouts for tests. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** Path → content, or a link. */
export type Files = Record<string, string | { readonly link: string }>;

export function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-image-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a layout with one image. Returns the digest of its manifest. */
export function writeLayout(folder: string, name: string, layers: readonly Files[]): string {
  const blobs = join(folder, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const add = (bytes: Buffer) => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, hex), bytes);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  const descriptors = layers.map((files, index) => {
    const content = join(folder, `content-${index}`);
    for (const [path, file] of Object.entries(files)) {
      mkdirSync(dirname(join(content, path)), { recursive: true });
      if (typeof file === 'string') writeFileSync(join(content, path), file, { mode: 0o755 });
      else symlinkSync(file.link, join(content, path));
    }
    const archive = join(folder, `${index}.tar.gz`);
    execFileSync('tar', ['--create', '--gzip', `--file=${archive}`, `--directory=${content}`, ...Object.keys(files)]);
    return add(readFileSync(archive));
  });
  const config = { Entrypoint: ['/bin/tool'], Cmd: ['serve'], Env: ['PATH=/bin', 'MODE=image'], WorkingDir: '/data' };
  const configBlob = add(Buffer.from(JSON.stringify({ config })));
  const manifest = add(Buffer.from(JSON.stringify({ schemaVersion: 2, config: configBlob, layers: descriptors })));
  const annotations = { 'io.containerd.image.name': name };
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ manifests: [{ ...manifest, annotations }] }));
  return manifest.digest;
}
