/** Runs a command in a running container, for probes, hooks and `kubectl exec`. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Clock } from '@hangar/core';
import { findExecutable } from '@hangar/programs';
import { enteringCommand } from '../enclosure/enclosure.ts';
import type { EnclosureTools } from '../enclosure/tools.ts';
import type { CommandResult } from '../probes/command-result.ts';

export interface CommandOptions {
  /** Program of the container. */
  readonly pid: number;
  readonly command: readonly string[];
  readonly enclosure: EnclosureTools | undefined;
  /** Adapts arguments to this machine. */
  readonly rewrite: (text: string) => string;
  /** Runs the command with a terminal, if the machine has the program `script`. Its size is not changed. */
  readonly isTty?: boolean | undefined;
}

/** Starts a command with the environment and the file system of the container. Throws if the container is gone. */
export function spawnCommand({ pid, command, enclosure, rewrite, isTty }: CommandOptions): ChildProcess {
  const env = environmentOfProcess(pid);
  const rewritten = command.map(rewrite);
  const entering = enclosure ? enteringCommand(enclosure, pid, rewritten) : rewritten;
  const [program = '', ...args] = isTty ? withTerminal(entering) : entering;
  const executable = program.includes('/') ? program : (findExecutable(program, { path: env['PATH'] }) ?? program);
  const cwd = enclosure ? '/' : readlinkSync(`/proc/${pid}/cwd`);
  // A separate group: a command with children is killed as a whole.
  return spawn(executable, args, { env, cwd, argv0: program, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Returns a command that gives another a terminal, and its exit code. */
function withTerminal(command: readonly string[]): readonly string[] {
  const script = findExecutable('script');
  if (script === undefined) return command;
  const line = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  return [script, '--quiet', '--return', '--flush', '--command', `exec ${line}`, '/dev/null'];
}

function environmentOfProcess(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  return Object.fromEntries(
    entries
      .filter((entry) => entry.includes('='))
      .map((entry) => {
        const at = entry.indexOf('=');
        return [entry.slice(0, at), entry.slice(at + 1)];
      }),
  );
}

export function killCommand({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has exited.
  }
}

const outputBytesMax = 10 * 1024;

/** Never rejects. A command that cannot be started has exit code 126. */
export function runCommand(options: CommandOptions, clock: Clock, timeoutMs: number): Promise<CommandResult> {
  return new Promise((resolve) => {
    let output = '';
    let isTimeout = false;
    const settle = (exitCode: number): void => {
      timer.cancel();
      resolve({ exitCode, output: output.slice(0, outputBytesMax), isTimeout });
    };
    let child: ChildProcess | undefined;
    const timer = clock.after(timeoutMs, () => {
      isTimeout = true;
      if (child) killCommand(child);
    });
    try {
      child = spawnCommand(options);
    } catch (error) {
      output = (error as Error).message;
      return settle(126);
    }
    const keep = (chunk: Buffer): void => {
      if (output.length < outputBytesMax) output += chunk.toString();
    };
    child.stdout!.on('data', keep);
    child.stderr!.on('data', keep);
    child.stdin!.on('error', () => {}).end();
    child.once('error', (error) => {
      output = error.message;
      settle(126);
    });
    child.once('close', (code) => settle(code ?? 137));
  });
}
