/** A registry of npm on the loopback interface, with the dependencies of the packages as `npm ci` installed them: no test needs a network. */

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tarballName } from '../../../scripts/build/tarballs.ts';
import { run } from '../../../tools/run.ts';
import { root } from '../../examples/testing/documents.ts';

/** The dependencies of all published packages that are not packages of this repository. */
const names = ['@noble/ciphers', 'argparse', 'js-yaml'];

export interface Registry extends AsyncDisposable {
  readonly url: string;
}

export async function startRegistry(): Promise<Registry> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-registry-'));
  const folders = names.map((name) => join(root, 'node_modules', name));
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${folder}`, ...folders];
  const { failure, stderr } = await run('npm', args, { timeoutMs: 120_000, cwd: root });
  if (failure !== undefined) throw new Error(`npm pack: ${failure}\n${stderr}`);
  const tarballs = new Map<string, Buffer>();
  const documents = new Map<string, object>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!).slice(1);
    const found = tarballs.get(path) ?? documents.get(path);
    response.statusCode = found ? 200 : 404;
    response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const name of names) {
    const manifest = JSON.parse(await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    const file = tarballName(manifest);
    const bytes = await readFile(join(folder, file));
    tarballs.set(file, bytes);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const { version } = manifest as { version: string };
    const dist = { tarball: `${url}/${file}`, integrity };
    documents.set(name, { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } });
  }
  // Node 26 for machines with an older one: npm locks these versions, and does not fetch them when optional dependencies are omitted.
  const { optionalDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries(optionalDependencies as Record<string, string>)) {
    const dist = { tarball: `${url}/none.tgz`, integrity: `sha512-${Buffer.alloc(64).toString('base64')}` };
    documents.set(name, { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist } } });
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
