/** A process beside a management cluster: command line, environment, signals, exit codes. */

import { connect, defaultConfig } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';
import { asError, giveBackMemory, Logger, systemClock } from '@hangar/core';
import { UsageError } from '@hangar/core/command-line';
import type { Environment, LoggingOptions } from '@hangar/core/command-line';
import { startTracing } from '@hangar/core/tracing';
import { signals } from '@hangar/runtime';
import { versionText } from './version.ts';

/** Time in which a process has read all objects and loaded its modules. */
const settledAfterMs = 30_000;

export interface CommonOptions {
  /** Undefined: the default of kubectl and pods. */
  readonly kubeconfig: string | undefined;
  readonly logging: LoggingOptions;
}

export interface ProgramRun<Options> {
  readonly options: Options;
  readonly management: Client;
  /** Of the pod or of the kubeconfig, or kube-system. */
  readonly namespace: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface Program<Options> {
  readonly userAgent: string;
  readonly help: string;
  /** Throws a UsageError. */
  readonly readOptions: (args: readonly string[], environment: Environment) => Options | 'help' | 'version';
  /** Resolves after the signal. Rejects with the fatal error. */
  readonly run: (given: ProgramRun<Options>) => Promise<void>;
}

/** `args`: with the name of the command. Resolves when the program has stopped. */
export async function runProgram<Options extends CommonOptions>(
  program: Program<Options>,
  [, ...args]: readonly string[],
): Promise<void> {
  try {
    const options = program.readOptions(args, process.env);
    if (options === 'help') return console.log(program.help);
    if (options === 'version') return console.log(await versionText());
    process.exitCode = await serve(program, options, await configOf(options));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`hangar: ${error.message}`);
    process.exitCode = 2;
  }
}

/** Resolves with the exit code. */
async function serve<Options extends CommonOptions>(
  { userAgent, run }: Program<Options>,
  options: Options,
  config: ClusterConfig,
): Promise<number> {
  const log = new Logger({ ...options.logging, format: options.logging.format ?? 'json', clock: systemClock });
  const signal = signals();
  const onError = (error: Error): void => log.warn('traces were lost', { error });
  const tracing = await startTracing(process.env, { serviceName: userAgent, onError });
  const management = connect(config, { userAgent });
  // Timers of the clock do not keep a process alive, and nothing else may be pending while it waits for a server.
  const staysAlive = setInterval(() => undefined, 2 ** 30);
  systemClock.after(settledAfterMs, giveBackMemory);
  try {
    await run({ options, management, namespace: config.namespace ?? 'kube-system', log, signal });
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    log.error('the process failed', { error: asError(error) });
    return 1;
  } finally {
    clearInterval(staysAlive);
    await management.close();
    await tracing?.close();
  }
}

/** Rejects with a UsageError for an unusable kubeconfig. */
async function configOf({ kubeconfig }: CommonOptions): Promise<ClusterConfig> {
  try {
    return await defaultConfig({ kubeconfig });
  } catch (error) {
    throw new UsageError(`--kubeconfig: ${asError(error).message}`, { cause: error });
  }
}
