/**
 * Runs the plugin once, with limits on time and output. Resolves with its standard output. Its standard error goes to that of this process,
 * and the last part of it into the error when it fails.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../../errors.ts';
import type { ExecConfig } from './exec-config.ts';

const outputBytesMax = 4 * 1024 * 1024;
const quotedBytesMax = 2_000;

export interface PluginRun {
  readonly config: ExecConfig;
  readonly info: string;
  /** True if it may prompt the user at the terminal. */
  readonly isInteractive: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onStderr: (chunk: Buffer) => void;
}

export async function runPlugin(run: PluginRun): Promise<string> {
  const { config, clock, timeoutMs } = run;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (problem: string, cause?: unknown): void => {
    timer.cancel();
    child.kill('SIGKILL');
    // Child processes of the plugin may keep these open.
    child.stdout?.destroy();
    child.stderr?.destroy();
    reject(pluginError(config, problem, cause));
  };
  const child = started(run);
  const timer = clock.after(timeoutMs, () => fail(`returned no credentials within ${timeoutMs / 1000} s`));
  const output: Buffer[] = [];
  let outputBytes = 0;
  let quoted = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    outputBytes += chunk.length;
    if (outputBytes > outputBytesMax) fail(`wrote more than ${outputBytesMax} bytes to standard output`);
    else output.push(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    quoted = (quoted + chunk.toString()).slice(-quotedBytesMax);
    run.onStderr(chunk);
  });
  child.on('error', (error: NodeJS.ErrnoException) => {
    fail(error.code === 'ENOENT' ? notFound(config) : `could not be run: ${error.message}`, error);
  });
  child.on('close', (code, signal) => {
    timer.cancel();
    if (code === 0) return resolve(Buffer.concat(output).toString());
    const said = quoted.trim() === '' ? '' : `: ${quoted.trim()}`;
    reject(pluginError(config, `${code === null ? `was killed by ${signal}` : `exited with code ${code}`}${said}`));
  });
  return promise;
}

function started({ config, env, info, isInteractive }: PluginRun): ChildProcess {
  try {
    return spawn(config.command, config.args, {
      env: { ...env, ...config.env, KUBERNETES_EXEC_INFO: info },
      // An interactive plugin needs the terminal: it prompts for passwords there.
      stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', isInteractive ? 'inherit' : 'pipe'],
      windowsHide: true,
    });
  } catch (cause) {
    // For example arguments with NUL characters.
    throw pluginError(config, `could not be run: ${asError(cause).message}`, cause);
  }
}

export const pluginError = ({ command }: Pick<ExecConfig, 'command'>, problem: string, cause?: unknown): ClientError =>
  new ClientError(
    'CredentialsFailed',
    `the credential plugin ${command} ${problem}`,
    cause === undefined ? undefined : { cause: asError(cause) },
  );

const notFound = ({ installHint }: ExecConfig): string =>
  installHint === undefined ? 'is not installed' : `is not installed. ${withoutControls(installHint)}`;

/** The text comes from the kubeconfig and is shown at a terminal: removes control characters. */
const withoutControls = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '').trim();
