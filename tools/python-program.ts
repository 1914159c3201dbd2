/**
 * Programs of the Python package index, each installed once in a virtual environment of the cache:
 *
 *     <cache>/<name>/<version>/bin/<executable>
 *
 * An environment contains its own path, so it is made in place; the file `complete` is written last.
 */

import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './lock.ts';
import { systemWorld } from './world.ts';

const installTimeoutMs = 10 * 60_000;

export interface PythonProgram {
  /** Of the package. */
  readonly name: string;
  /** Exact. */
  readonly version: string;
  /** Optional parts of the package: `server`. */
  readonly extras: readonly string[];
  readonly executable: string;
}

/** Returns the path of the executable. Needs python3 with `venv` and `pip`. */
export async function pythonProgram(program: PythonProgram, log: (line: string) => void): Promise<string> {
  const { name, version, extras, executable } = program;
  const world = systemWorld(log);
  const folder = join(world.cacheFolder, name, version);
  const complete = join(folder, 'complete');
  await withLock({ path: join(world.cacheFolder, `${name}.lock`) }, async () => {
    if (await exists(complete)) return;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    log(`${name}: installing version ${version}`);
    const run = async (command: string, args: readonly string[]): Promise<void> => {
      const options = { timeoutMs: installTimeoutMs, cwd: folder, env: world.env };
      const { failure, stderr } = await world.run(command, args, options);
      if (failure !== undefined) throw new Error(`${command} ${args.join(' ')}: ${failure}\n${stderr}`);
    };
    await run('python3', ['-m', 'venv', folder]);
    const requirement = `${name}[${extras.join(',')}]==${version}`;
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', requirement]);
    await writeFile(complete, '');
  });
  return join(folder, 'bin', executable);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
