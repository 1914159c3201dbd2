/** Debian's package, as root only, and only if the version that Debian has is acceptable. */

import { copyFile, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cachedPath, place } from '../cache.ts';
import type { DebianPackage, Program } from '../catalogue.ts';
import { isExecutable, onPath } from '../executable.ts';
import type { RunResult } from '../run.ts';
import { formatVersion, parseDebianVersion, refusal } from '../version.ts';
import type { World } from '../world.ts';
import type { Found, NotFound, Step } from './step.ts';

const askTimeoutMs = 30_000;
const fetchTimeoutMs = 5 * 60_000;

export const debian: Step = {
  name: 'Debian package',
  async attempt(program, world) {
    const wanted = program.debian;
    if (!wanted) return { reason: 'Debian has none' };
    if ((await onPath('apt-get', world)).length === 0) return { reason: 'no apt-get on PATH' };
    if (!world.isRoot) return { reason: `needs root; a person can: apt-get install ${wanted.name}` };

    let candidate = await candidateOf(wanted.name, world);
    if (candidate === undefined) {
      // A fresh container image comes without package lists.
      const { failure, stderr } = await apt(['update'], world);
      if (failure !== undefined) return { reason: `apt-get update: ${describe(failure, stderr)}` };
      candidate = await candidateOf(wanted.name, world);
    }
    if (candidate === undefined) return { reason: `no package ${wanted.name}` };
    const version = parseDebianVersion(candidate);
    if (!version) return { reason: `${wanted.name} has the version ${candidate}, which says nothing` };
    const reason = refusal(version, program.accepted);
    if (reason !== undefined) return { reason: `${wanted.name} ${reason}` };

    const release = { version: formatVersion(version), from: `Debian (${wanted.name} ${candidate})` };
    world.log(`${program.name}: taking ${release.from}`);
    return wanted.how === 'install' ? install(wanted, release, world) : unpack(program, wanted, release, world);
  },
};

type Source = Omit<Found, 'path'>;

async function install(wanted: DebianPackage, source: Source, world: World): Promise<Found | NotFound> {
  const { failure, stderr } = await withFreshLists(world, () =>
    apt(['install', '--yes', '--no-install-recommends', wanted.name], world),
  );
  if (failure !== undefined) return { reason: `apt-get install ${wanted.name}: ${describe(failure, stderr)}` };
  const path = `/${wanted.file}`;
  if (!(await isExecutable(path))) return { reason: `${wanted.name} was installed without ${path}` };
  return { path, ...source };
}

async function unpack(
  program: Program,
  wanted: DebianPackage,
  source: Source,
  world: World,
): Promise<Found | NotFound> {
  const path = cachedPath(program, source.version, world);
  if (await isExecutable(path)) return { path, ...source };
  const folder = await mkdtemp(join(tmpdir(), 'hangar-debian-'));
  try {
    const placed = await place(program, source.version, world, async (partial) => {
      const names = [wanted.name, ...(wanted.libraries ?? [])];
      const { failure, stderr } = await withFreshLists(world, () => apt(['download', ...names], world, folder));
      if (failure !== undefined) return `apt-get download ${names.join(' ')}: ${describe(failure, stderr)}`;
      const archives = (await readdir(folder)).filter((name) => name.endsWith('.deb'));
      if (archives.length < names.length) return `apt-get download ${names.join(' ')} left ${archives.length} packages`;
      for (const archive of archives) {
        const options = { timeoutMs: fetchTimeoutMs, cwd: folder };
        const unpacked = await world.run('dpkg-deb', ['-x', archive, 'root'], options);
        if (unpacked.failure !== undefined) return `dpkg-deb: ${describe(unpacked.failure, unpacked.stderr)}`;
      }
      if (wanted.libraries) await placeWithLibraries(wanted, join(folder, 'root'), partial);
      else await copyFile(join(folder, 'root', wanted.file), partial);
      return undefined;
    });
    return 'reason' in placed ? placed : { path: placed.path, ...source };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies the unpacked packages to the folder of `partial`, and writes a script to `partial` that runs the program with their libraries. */
async function placeWithLibraries(wanted: DebianPackage, unpacked: string, partial: string): Promise<void> {
  const kept = join(dirname(partial), 'root');
  await cp(unpacked, kept, { recursive: true, verbatimSymlinks: true });
  const folders: string[] = [];
  for (const parent of ['lib', 'usr/lib']) {
    const names = await readdir(join(kept, parent)).catch(() => []);
    folders.push(...names.filter((name) => name.includes('-linux-')).map((name) => `$here/root/${parent}/${name}`));
  }
  const script = [
    '#!/bin/sh',
    'here=${0%/*}',
    `LD_LIBRARY_PATH="${folders.join(':')}" exec "$here/root/${wanted.file}" "$@"`,
    '',
  ];
  await writeFile(partial, script.join('\n'));
}

/** Lists that are too old name files that the archive no longer has. */
async function withFreshLists(world: World, work: () => Promise<RunResult>): Promise<RunResult> {
  const result = await work();
  if (result.failure === undefined) return result;
  const update = await apt(['update'], world);
  return update.failure === undefined ? work() : result;
}

async function candidateOf(name: string, world: World): Promise<string | undefined> {
  const { stdout } = await world.run('apt-cache', ['policy', name], {
    timeoutMs: askTimeoutMs,
    env: aptEnvironment(world),
  });
  const candidate = /^\s*Candidate:\s*(\S+)/m.exec(stdout)?.[1];
  return candidate === '(none)' ? undefined : candidate;
}

function apt(args: readonly string[], world: World, cwd?: string): Promise<RunResult> {
  return world.run('apt-get', ['--quiet', ...args], {
    timeoutMs: fetchTimeoutMs,
    env: aptEnvironment(world),
    ...(cwd !== undefined && { cwd }),
  });
}

/** No questions, and answers in the language that is parsed here. */
function aptEnvironment(world: World): Record<string, string | undefined> {
  return { ...world.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
}

function describe(failure: string, stderr: string): string {
  const error = stderr.split('\n').find((line) => line.startsWith('E:'));
  return error === undefined ? failure : `${failure}; ${error}`;
}
