/** Debian's package, as root only, and only if the version that Debian has is acceptable. */

import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
      const { failure, stderr } = await withFreshLists(world, () => apt(['download', wanted.name], world, folder));
      if (failure !== undefined) return `apt-get download ${wanted.name}: ${describe(failure, stderr)}`;
      const archive = (await readdir(folder)).find((name) => name.endsWith('.deb'));
      if (archive === undefined) return `apt-get download ${wanted.name} left no package`;
      const unpacked = await world.run('dpkg-deb', ['-x', archive, 'root'], { timeoutMs: fetchTimeoutMs, cwd: folder });
      if (unpacked.failure !== undefined) return `dpkg-deb: ${describe(unpacked.failure, unpacked.stderr)}`;
      await copyFile(join(folder, 'root', wanted.file), partial);
      return undefined;
    });
    return 'reason' in placed ? placed : { path: placed.path, ...source };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
