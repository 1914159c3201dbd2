/** A world for tests: a temporary folder, scripted programs, a scripted network. */

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Program } from './catalogue.ts';
import type { RunOptions, RunResult } from './run.ts';
import type { World } from './world.ts';

export interface Call {
  command: string;
  args: readonly string[];
  options: RunOptions;
}

export interface TestWorld extends World {
  folder: string;
  logged: string[];
  calls: Call[];
  /** Creates an executable file in a folder that is on PATH and returns its path. */
  install(name: string): Promise<string>;
}

export interface Script {
  /** Answers a started program; undefined: it succeeds and prints nothing. */
  run?(call: Call): Partial<RunResult> | undefined | Promise<Partial<RunResult> | undefined>;
  fetch?(url: string): Response | Promise<Response>;
}

/** A world whose folder is removed after the test. PATH is one empty folder; the pins are `v3.6.1` of `example.org/it`. */
export async function testWorld(context: TestContext, script: Script = {}): Promise<TestWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-tools-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const bin = join(folder, 'bin');
  const calls: Call[] = [];
  const logged: string[] = [];
  await writeExecutable(join(folder, 'sets', 'it', 'go.mod'), 'module m\n\nrequire (\n\texample.org/it v3.6.1\n)\n');
  return {
    folder,
    calls,
    logged,
    install: (name) => writeExecutable(join(bin, name)),
    env: { PATH: bin },
    platform: { os: 'linux', arch: 'amd64' },
    isRoot: true,
    cacheFolder: join(folder, 'cache'),
    setsFolder: join(folder, 'sets'),
    async run(command, args, options) {
      const call = { command, args, options };
      calls.push(call);
      return { stdout: '', stderr: '', failure: undefined, ...(await script.run?.(call)) };
    },
    async fetch(url) {
      if (!script.fetch) throw new TypeError('fetch failed', { cause: new Error('no network') });
      return script.fetch(String(url));
    },
    log: (line) => logged.push(line),
  };
}

/** The program `it` with every way to get it. */
export const it: Program = {
  name: 'it',
  executable: 'it',
  versionArguments: ['--version'],
  accepted: { from: '3.5' },
  go: { set: { folder: 'it', module: 'example.org/it' }, package: 'example.org/it/cmd' },
  debian: { name: 'it-server', file: 'usr/bin/it', how: 'unpack' },
  download: (version) => ({
    url: `https://example.org/${version}/it`,
    checksumUrl: `https://example.org/${version}/sums`,
  }),
};

export async function writeExecutable(path: string, content = 'a program'): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await chmod(path, 0o755);
  return path;
}
