/** Starts a program and waits for it, with a limit. Ends only what it started. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface RunOptions {
  timeoutMs: number;
  cwd?: string;
  /** The whole environment; absent: this process's own. */
  env?: Record<string, string | undefined>;
  /** Called with each line of standard error. */
  onErrorLine?(line: string): void;
}

export interface RunResult {
  stdout: string;
  stderr: string;
  /** Why it did not end well, e.g. `exit code 1`; undefined when it did. */
  failure: string | undefined;
}

/** Never rejects: a program that is missing, fails or takes too long is a result with a `failure`. */
export type Run = (command: string, args: readonly string[], options: RunOptions) => Promise<RunResult>;

const killAfterMs = 5_000;

export const run: Run = (command, args, options) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.env !== undefined && { env: options.env as NodeJS.ProcessEnv }),
    });
    let stdout = '';
    const stderr: string[] = [];
    let failure: string | undefined;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    createInterface({ input: child.stderr }).on('line', (line) => {
      stderr.push(line);
      options.onErrorLine?.(line);
    });

    const timers = [
      setTimeout(() => {
        failure = `no end after ${options.timeoutMs / 1000} s`;
        child.kill('SIGTERM');
        timers.push(setTimeout(() => child.kill('SIGKILL'), killAfterMs));
      }, options.timeoutMs),
    ];
    const finish = () => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ stdout, stderr: stderr.join('\n'), failure });
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      failure = error.code === 'ENOENT' ? `${command} is not there` : `${command} does not start: ${error.message}`;
      finish();
    });
    child.once('close', (code, signal) => {
      if (code !== 0) failure ??= signal ? `ended by ${signal}` : `exit code ${code}`;
      finish();
    });
  });
