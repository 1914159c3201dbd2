/**
 * The Go program of this folder, built once for each content of its sources and kept in the cache of `tools/`:
 *
 *     <cache>/client-go-conformance/<hash of sources, go.mod and go.sum>-linux-amd64/client-go
 *
 * It is not in the catalogue of tools: those are other people's programs, known by their version.
 */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isExecutable, onPath } from '../../../tools/executable.ts';
import { withLock } from '../../../tools/lock.ts';
import { systemWorld } from '../../../tools/world.ts';
import type { World } from '../../../tools/world.ts';

const name = 'client-go-conformance';
const sourceFolder = import.meta.dirname;
/** Long: with Go's build cache empty it compiles all of client-go. */
const buildTimeoutMs = 18 * 60_000;

/** The path of the executable. */
export async function buildProgram(log: (line: string) => void): Promise<string> {
  const world = systemWorld(log);
  const folder = join(world.cacheFolder, name);
  const path = join(folder, await versionOfSources(world), 'client-go');
  if (await isExecutable(path)) return path;
  await withLock({ path: join(world.cacheFolder, `${name}.lock`) }, async () => {
    if (await isExecutable(path)) return;
    // What earlier sources gave is of no more use.
    await rm(folder, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await build(`${path}.partial`, world);
    await rename(`${path}.partial`, path);
  });
  return path;
}

async function versionOfSources({ platform }: World): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(sourceFolder)).filter((file) => /\.go$|^go\.(mod|sum)$/.test(file));
  for (const file of files.sort()) {
    const content = await readFile(join(sourceFolder, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return `${hash.digest('hex').slice(0, 16)}-${platform.os}-${platform.arch}`;
}

async function build(output: string, world: World): Promise<void> {
  const [go] = await onPath('go', world);
  if (go === undefined) throw new Error(`${name}: no go on PATH`);
  world.log(`${name}: building; the first build takes minutes`);
  const { failure, stderr } = await world.run(
    go,
    ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-o', output, '.'],
    {
      timeoutMs: buildTimeoutMs,
      cwd: sourceFolder,
      env: { ...world.env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: world.platform.os, GOARCH: world.platform.arch },
    },
  );
  if (failure !== undefined) throw new Error(`go build: ${failure}\n${stderr}`);
}
