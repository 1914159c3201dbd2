/**
 * Go programs whose sources are in this repository: built once for each content of their sources and kept in the cache.
 *
 *     <cache>/<name>/<hash of sources, go.mod and go.sum>-linux-amd64/<name>
 *
 * They are not in the catalogue, which lists third-party programs by their version.
 */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isExecutable, onPath } from './executable.ts';
import { withLock } from './lock.ts';
import { systemWorld } from './world.ts';
import type { World } from './world.ts';

/** Long: with Go's build cache empty, a program may compile all of client-go. */
const buildTimeoutMs = 18 * 60_000;

export interface OwnProgram {
  readonly name: string;
  /** Folder of its sources. */
  readonly folder: string;
}

/** Returns the path of the executable. */
export async function ownProgram(program: OwnProgram, log: (line: string) => void): Promise<string> {
  const world = systemWorld(log);
  const { name } = program;
  const folder = join(world.cacheFolder, name);
  const path = join(folder, await versionOf(program, world), name);
  if (await isExecutable(path)) return path;
  await withLock({ path: join(world.cacheFolder, `${name}.lock`) }, async () => {
    if (await isExecutable(path)) return;
    // Removes the results of earlier sources.
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await build(program, `${path}.partial`, world);
    await rename(`${path}.partial`, path);
  });
  return path;
}

async function versionOf({ folder }: OwnProgram, { platform }: World): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(folder)).filter((file) => /\.go$|^go\.(mod|sum)$/.test(file));
  for (const file of files.sort()) {
    const content = await readFile(join(folder, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return `${hash.digest('hex').slice(0, 16)}-${platform.os}-${platform.arch}`;
}

async function build({ name, folder }: OwnProgram, output: string, world: World): Promise<void> {
  const [go] = await onPath('go', world);
  if (go === undefined) throw new Error(`${name}: no go on PATH`);
  world.log(`${name}: building; the first build may take minutes`);
  const { failure, stderr } = await world.run(
    go,
    ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-o', output, '.'],
    {
      timeoutMs: buildTimeoutMs,
      cwd: folder,
      env: { ...world.env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: world.platform.os, GOARCH: world.platform.arch },
    },
  );
  if (failure !== undefined) throw new Error(`go build: ${failure}\n${stderr}`);
}
