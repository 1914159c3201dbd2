/**
 * `hangar up --detach`: starts the same command as a background process, whose output goes to the log in the data directory, and returns when
 * the server is ready or has exited.
 */

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { findServer, logFileIn, shellWord } from '@hangar/core/command-line';

/** Set in the environment of the background process. */
const variable = 'HANGAR_BACKGROUND';

export const isBackground = (): boolean => process.env[variable] !== undefined;

/** Sends the greeting to the process that waits for it. */
export function reportReady(greeting: string): void {
  if (!isBackground() || !process.connected) return;
  process.send!(greeting, () => process.disconnect!());
}

export interface BackgroundOptions {
  readonly dataDirectory: string;
  readonly program: string;
}

/** Resolves with the exit code. `args`: the arguments of `up`. */
export async function startInBackground(
  args: readonly string[],
  { dataDirectory, program }: BackgroundOptions,
): Promise<number> {
  const found = await findServer(dataDirectory);
  if (found.state === 'running') {
    const { pid, url } = found.server;
    console.error(`hangar: the data directory ${dataDirectory} is in use by process ${pid}, which serves ${url}`);
    console.error(`        stop it with: ${program} down --data-dir ${shellWord(dataDirectory)}`);
    return 1;
  }
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const logFile = logFileIn(dataDirectory);
  const log = openSync(logFile, 'a', 0o600);
  const startsAt = statSync(logFile).size;
  const child = spawn(process.execPath, [process.argv[1]!, 'up', ...args.filter((arg) => !isDetach(arg))], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: backgroundEnvironment(),
  });
  closeSync(log);
  const stop = (): void => void child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const greeting = await new Promise<string | undefined>((resolve) => {
    child.on('message', (text) => resolve(String(text)));
    child.on('error', () => resolve(undefined));
    child.on('exit', () => resolve(undefined));
  });
  if (greeting === undefined) {
    const printed = readFileSync(logFile).subarray(startsAt).toString('utf8').trimEnd();
    console.error(printed || `hangar: the server exited; its log is ${logFile}`);
    return 1;
  }
  console.log(greeting);
  child.disconnect();
  child.unref();
  return 0;
}

const isDetach = (arg: string): boolean => /^--detach(?:=.*)?$/.test(arg);

/** Without the variables of npm and of an older Node: the process outlives both. */
function backgroundEnvironment(): NodeJS.ProcessEnv {
  const { npm_command: _, HANGAR_PARENT: __, ...rest } = process.env;
  return { ...rest, [variable]: '1' };
}
