/**
 * Builds the pinned version from its modules. The go command fetches them, verifies them against the set's go.sum and
 * keeps its own build cache, so an interrupted build continues where it stopped.
 *
 * `-mod=readonly`: the checkout is never changed; a go.sum that is not complete is an error, not an edit.
 */

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { place } from '../cache.ts';
import type { GoSet, Program } from '../catalogue.ts';
import { formatElapsed, withElapsed } from '../elapsed.ts';
import { onPath } from '../executable.ts';
import { pinnedVersion } from '../pin.ts';
import type { World } from '../world.ts';
import type { Step } from './step.ts';

/** Long: with an empty module cache the first query fetches hundreds of go.mod files. */
const askTimeoutMs = 5 * 60_000;
const buildTimeoutMs = 2 * 60 * 60_000;

export const goBuild: Step = {
  name: 'go build',
  async attempt(program, world) {
    const version = await pinnedVersion(program, world.setsFolder);
    if (!program.go || version === undefined) return { reason: 'is not for this program: no set builds it' };
    const [go] = await onPath('go', world);
    if (go === undefined) return { reason: 'no go on PATH' };

    const goVersion = await ask(go, ['env', 'GOVERSION'], program.go.set, world);
    const linkerFlags = await linkerFlagsOf(go, program.go.set, version, world);
    const begin = performance.now();
    world.log(`${program.name}: building ${version} with ${goVersion}; the first build takes minutes`);
    const placed = await place(program, version, world, (partial) =>
      build({ go, program, linkerFlags, partial }, world),
    );
    if ('reason' in placed) return placed;
    world.log(`${program.name}: built in ${formatElapsed(performance.now() - begin)}`);
    return { path: placed.path, version, from: `built with ${goVersion}` };
  },
};

interface Build {
  go: string;
  program: Program;
  linkerFlags: string;
  partial: string;
}

async function build({ go, program, linkerFlags, partial }: Build, world: World): Promise<string | undefined> {
  // `nice` and not os.setPriority: on Linux that lowers one thread of a running process, and the go command has several.
  const [nice] = await onPath('nice', world);
  const [command = go, ...before] = nice === undefined ? [go] : [nice, '-n', '10', go];
  const jobs = world.env['HANGAR_TOOLS_JOBS'] || String(availableParallelism());
  const verb = program.go?.isTest ? ['test', '-c'] : ['build'];
  const { tags = [] } = program.go?.set ?? {};
  const tagged = tags.length === 0 ? [] : [`-tags=${tags.join(',')}`];
  const args = [
    ...verb,
    ...tagged,
    '-v',
    '-mod=readonly',
    '-trimpath',
    `-p=${jobs}`,
    `-ldflags=${linkerFlags}`,
    '-o',
    partial,
  ];

  let fetched = 0;
  let compiled = 0;
  const errors: string[] = [];
  const { failure } = await withElapsed(
    world,
    (elapsed) => `${program.name}: building for ${elapsed}, ${fetched} modules fetched, ${compiled} packages compiled`,
    () =>
      world.run(command, [...before, ...args, program.go!.package], {
        timeoutMs: buildTimeoutMs,
        cwd: setFolder(program.go!.set, world),
        env: buildEnvironment(world),
        onErrorLine(line) {
          if (line.startsWith('go: downloading ')) fetched++;
          else if (/^\S+$/.test(line)) compiled++; // -v prints the path of each package.
          else errors.push(line);
        },
      }),
  );
  if (failure === undefined) return undefined;
  return [failure, ...errors.slice(-errorLinesMax)].join('; ');
}

const errorLinesMax = 5;

/** Without symbol tables, half the size; with upstream's stamp, or the program would not report its version. */
async function linkerFlagsOf(go: string, set: GoSet, version: string, world: World): Promise<string> {
  const flags = ['-s', '-w'];
  if (set.stamp) {
    const format = '{{.Time.UTC.Format "2006-01-02T15:04:05Z"}}';
    const time = await ask(go, ['list', '-mod=readonly', '-m', '-f', format, set.module], set, world);
    for (const [key, value] of Object.entries(set.stamp({ version, time }))) flags.push('-X', `${key}=${value}`);
  }
  return flags.join(' ');
}

async function ask(go: string, args: readonly string[], set: GoSet, world: World): Promise<string> {
  const { stdout, stderr, failure } = await world.run(go, args, {
    timeoutMs: askTimeoutMs,
    cwd: setFolder(set, world),
    env: buildEnvironment(world),
  });
  if (failure !== undefined) throw new Error(`go ${args[0]}: ${failure}; ${stderr.trim().split('\n').join('; ')}`);
  return stdout.trim();
}

function setFolder(set: GoSet, world: World): string {
  return join(world.setsFolder, set.folder);
}

/** Keeps the user's Go settings, except those that would build something else than a program for this machine. */
function buildEnvironment(world: World): Record<string, string | undefined> {
  const { os, arch } = world.platform;
  return { ...world.env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: os, GOARCH: arch };
}
