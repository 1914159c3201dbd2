/** `hangar up`: the server and what runs beside it, until somebody ends it. */

import { join } from 'node:path';
import { systemClock, giveBackMemory } from '@hangar/core';
import type { Failpoints, Logger } from '@hangar/core';
import { start } from '../compose/start.ts';
import { openLog } from '../logging.ts';
import { help, readOptions } from '../options/options.ts';
import type { PlatformOptions } from '../options/options.ts';
import { tracingOptions } from '../tracing/environment.ts';
import { versionText } from '../version.ts';
import { explanation } from './explain.ts';

import { greeting } from './greeting.ts';
import { StopSignals } from './stop-signals.ts';

/** Whoever started it has had the first answers by then. */
const settledAfterMs = 2_000;

/** Resolves when it serves. `failpoints`: of tests. */
export async function up(args: readonly string[], failpoints?: Failpoints): Promise<void> {
  const options = readOptions(args, process.env);
  if (options === 'help') return console.log(help);
  if (options === 'version') return console.log(versionText);
  // Timers of the clock keep no process alive, and an etcd that does not answer is waited for by nothing else.
  const staysAlive = setInterval(() => undefined, 2 ** 30);
  try {
    await serve(options, failpoints);
  } catch (error) {
    const text = explanation(error, options);
    if (text === undefined) throw error;
    console.error(`hangar: ${text}`);
    process.exitCode = 1;
  } finally {
    clearInterval(staysAlive);
  }
}

async function serve(options: PlatformOptions, failpoints: Failpoints | undefined): Promise<void> {
  const { logging } = options;
  const log = openLog(logging, process.stderr.isTTY);
  const signals = new StopSignals();
  const { isBare, electsLeader } = options.services;
  // While the store is opened.
  const loading = isBare ? undefined : import('../services/services.ts');
  // Told where it is awaited.
  loading?.catch(() => undefined);
  const tracing = await startTracing(log);
  const running = await start(options, log, failpoints);
  // A store that others serve, too, is looked after by who runs them.
  const demoFile = options.store.type === 'etcd' ? undefined : join(options.dataDirectory, 'demo.kubeconfig');
  // What they begin and end is no news to who started a server; that something goes wrong is.
  const servicesLog = logging.level === 'info' ? openLog({ ...logging, level: 'warn' }, process.stderr.isTTY) : log;
  const services = (await loading)?.startServices({
    inside: running.inside,
    log: servicesLog,
    electsLeader,
    demoFile,
  });
  // Of all that runs here, what nobody waited for must not end what others use.
  process.on('unhandledRejection', (error) => log.error('something failed unattended', { error }));
  // Whatever keeps the process alive ends with the server.
  signals.onStop(async () => {
    await services?.stop();
    await running
      .close()
      .catch((error: unknown) => log.error('the server did not end well', { error: error as Error }));
    await tracing?.close();
  });
  const hasDemo = (await services?.hasDemo) ?? false;
  if (signals.isStopping) return;
  console.log(greeting({ url: running.url, options, ...(hasDemo ? { demoFile } : {}) }));
  systemClock.after(settledAfterMs, giveBackMemory);
}

async function startTracing(log: Logger): Promise<{ close(): Promise<void> } | undefined> {
  const options = tracingOptions(process.env);
  if (!options) return undefined;
  const tracing = await import('../tracing/start.ts');
  return tracing.startTracing(options, (error) => log.warn('traces were lost', { error }));
}
