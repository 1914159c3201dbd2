/** What `hangar` does when a person starts it. */

import { relative } from 'node:path';
import { release } from '@hangar/api';
import { systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { giveBackMemory } from './give-back-memory.ts';
import { help, readOptions, UsageError } from './options.ts';
import type { PlatformOptions } from './options.ts';
import { openLog } from './logging.ts';
import { start } from './start.ts';
import { tracingOptions } from './tracing/environment.ts';

const version = '0.1.0';
/** Whoever started it has had the first answers by then. */
const settledAfterMs = 2_000;

export async function main(args: readonly string[]): Promise<void> {
  try {
    const options = readOptions(args);
    if (options === 'help') return console.log(help);
    if (options === 'version') return console.log(`hangar ${version}, Kubernetes ${release}`);
    await serve(options);
  } catch (error) {
    if (!(error instanceof UsageError) && !isExplained(error)) throw error;
    console.error(`hangar: ${(error as Error).message}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

async function serve(options: PlatformOptions): Promise<void> {
  const log = openLog(process.env, process.stderr.isTTY);
  const tracing = await startTracing(log);
  const running = await start(options, log);
  console.log(greeting(running.url, options));
  systemClock.after(settledAfterMs, giveBackMemory);
  // Whatever keeps the process alive ends with the server.
  const stop = (): void =>
    void running
      .close()
      .catch((error: unknown) => log.error('the server did not end well', { error }))
      .then(() => tracing?.close())
      .then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

async function startTracing(log: Logger): Promise<{ close(): Promise<void> } | undefined> {
  const options = tracingOptions(process.env);
  if (!options) return undefined;
  const tracing = await import('./tracing/start.ts');
  return tracing.startTracing(options, (error) => log.warn('traces were lost', { error }));
}

function greeting(url: string, { kubeconfig, store }: PlatformOptions): string {
  const file = relative(process.cwd(), kubeconfig) || kubeconfig;
  const shown = file.startsWith('..') ? kubeconfig : file;
  return [
    `Hangar serves the API of Kubernetes ${release} at ${url}`,
    `The administrator's kubeconfig is ${shown}; try`,
    '',
    `  kubectl --kubeconfig ${shown} create configmap hello --from-literal=from=hangar`,
    `  kubectl --kubeconfig ${shown} get all,configmaps --all-namespaces`,
    '',
    ...(store.type === 'memory' ? ['Nothing is kept: the store is in memory.', ''] : []),
    'Ctrl-C ends it.',
  ].join('\n');
}

/** Failures of the machine, which say all that there is to say: a port in use, a directory that is not ours. */
const isExplained = (error: unknown): boolean =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string';
