/**
 * Runs `hangar node run --foreground` as a background process, whose messages go to the process that started it until the node runs, and
 * to a log file.
 */

import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { abortError } from '@hangar/core';
import { failed } from '../errors.ts';
import { explain } from '../explain.ts';

/** Set in the environment of the background process. */
const variable = 'HANGAR_NODE_BACKGROUND';

type Message =
  | { readonly line: string }
  | { readonly isStarted: true }
  | { readonly message: string; readonly next: string | undefined; readonly isRunning: boolean };

/** Sends messages to the process that waits for them, if there is one. */
export const messenger = {
  line(line: string): void {
    send({ line });
  },
  /** The node runs. `problem`: it is not ready. */
  started(problem: Error | undefined): void {
    if (problem) sendError(problem, true);
    else send({ isStarted: true });
  },
  failed(error: unknown): void {
    sendError(error, false);
  },
};

function sendError(error: unknown, isRunning: boolean): void {
  const { message, next } = explain(error);
  if (message !== undefined) send({ message, next, isRunning });
}

function send(message: Message): void {
  if (process.env[variable] !== undefined && process.connected) process.send!(message, () => {});
}

export interface BackgroundOptions {
  /** Arguments of `hangar`. */
  readonly args: readonly string[];
  readonly logFile: string;
  readonly signal: AbortSignal;
  onLine(line: string): void;
}

/** Resolves when the node runs. Rejects with `Failed`, with the message of the process. */
export async function startInBackground({ args, logFile, signal, onLine }: BackgroundOptions): Promise<void> {
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'a', 0o600);
  const { npm_command: _, HANGAR_PARENT: __, ...env } = process.env;
  const child = spawn(process.execPath, [process.argv[1]!, ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...env, [variable]: '1' },
  });
  closeSync(log);
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  let failure: Error | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message: Message) => {
        if ('line' in message) return onLine(message.line);
        if ('isStarted' in message) return resolve();
        failure = failed(message.message, { next: message.next });
        if (message.isRunning) reject(failure);
      });
      child.on('error', reject);
      child.on('exit', (code, killer) => {
        reject(failure ?? failed(`the process of the node exited with ${killer ?? `code ${code}`}`));
      });
    });
  } catch (error) {
    // Without a state, the process has created only the log.
    const isEmpty = child.exitCode !== null && !existsSync(join(dirname(logFile), 'node.json'));
    if (isEmpty) await rm(dirname(logFile), { recursive: true, force: true });
    throw signal.aborted ? abortError(signal) : error;
  } finally {
    signal.removeEventListener('abort', stop);
    if (child.connected) child.disconnect();
    child.unref();
  }
}
