/** The process `hangar hosted-operator`: command line, environment, signals, exit codes. */

import { connect, defaultConfig } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { asError, giveBackMemory, Logger, systemClock } from '@hangar/core';
import { UsageError } from '@hangar/core/command-line';
import { startTracing } from '@hangar/core/tracing';
import { signals } from '@hangar/runtime';
import { hostedOperatorHelp, readOptions } from './options.ts';
import type { HostedOperatorProgramOptions } from './options.ts';
import { versionText } from './version.ts';

const userAgent = 'hangar-hosted-operator';
/** Time in which the operator has read all objects and loaded its modules. */
const settledAfterMs = 30_000;

/** `args`: with the name of the command. Resolves when the operator has stopped. */
export async function main([, ...args]: readonly string[]): Promise<void> {
  try {
    const options = readOptions(args, process.env);
    if (options === 'help') return console.log(hostedOperatorHelp);
    if (options === 'version') return console.log(versionText);
    process.exitCode = await serve(options, await configOf(options));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`hangar: ${error.message}`);
    process.exitCode = 2;
  }
}

/** Resolves with the exit code. */
async function serve(options: HostedOperatorProgramOptions, config: ClusterConfig): Promise<number> {
  const log = new Logger({ ...options.logging, format: options.logging.format ?? 'json', clock: systemClock });
  const signal = signals();
  const onError = (error: Error): void => log.warn('traces were lost', { error });
  const tracing = await startTracing(process.env, { serviceName: userAgent, onError });
  const management = connect(config, { userAgent });
  // Timers of the clock do not keep a process alive, and nothing else may be pending while it waits for a server.
  const staysAlive = setInterval(() => undefined, 2 ** 30);
  systemClock.after(settledAfterMs, giveBackMemory);
  try {
    // `--help` does not load all modules.
    const { run } = await import('./run.ts');
    await run({ options, management, namespace: config.namespace ?? 'kube-system', log, signal });
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    log.error('the operator failed', { error: asError(error) });
    return 1;
  } finally {
    clearInterval(staysAlive);
    await management.close();
    await tracing?.close();
  }
}

/** Rejects with a UsageError for an unusable kubeconfig. */
async function configOf({ kubeconfig }: HostedOperatorProgramOptions): Promise<ClusterConfig> {
  try {
    return await defaultConfig({ kubeconfig });
  } catch (error) {
    throw new UsageError(`--kubeconfig: ${asError(error).message}`, { cause: error });
  }
}
