/** `hangar up`: runs the server, the operator and the controllers until a signal stops it. */

import { join } from 'node:path';
import { systemClock, giveBackMemory } from '@hangar/core';
import type { Failpoints } from '@hangar/core';
import { announce, logFileIn, withdraw } from '@hangar/core/command-line';
import { startTracing } from '@hangar/core/tracing';
import { start } from '../compose/start.ts';
import { openLog } from '../logging.ts';
import { help, readOptions } from '../options/options.ts';
import type { PlatformOptions } from '../options/options.ts';
import { version, versionText } from '../version.ts';
import { isBackground, reportReady, startInBackground } from './background.ts';
import { explanation } from './explain.ts';
import { greeting } from './greeting.ts';
import { hostedOf } from './hosted.ts';
import { launchers } from './launchers.ts';
import { rotateLog } from './log-rotation.ts';
import { StopSignals } from './stop-signals.ts';
import { watchSurroundings } from './surroundings.ts';

/** The first requests of the user are answered by then. */
const settledAfterMs = 2_000;
/** For a stop without a signal. */
const stopMaxMs = 10_000;

/** Resolves when it serves. `failpoints`: of tests. */
export async function up(args: readonly string[], failpoints?: Failpoints): Promise<void> {
  const options = readOptions(args, process.env);
  if (options === 'help') return console.log(help);
  if (options === 'version') return console.log(versionText);
  if (options.isDetached && !isBackground()) {
    process.exitCode = await startInBackground(args, { dataDirectory: options.dataDirectory, program: program() });
    return;
  }
  // Timers of the clock do not keep a process alive, and nothing else is pending while it waits for etcd.
  const staysAlive = setInterval(() => undefined, 2 ** 30);
  try {
    await serve(options, failpoints);
  } catch (error) {
    const text = await explanation(error, { ...options, program: program() });
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
  const { isBare, electsLeader, hasProjects, aggregated } = options.services;
  // While the store is opened.
  const loading = isBare ? undefined : import('../services/services.ts');
  // Reported where it is awaited.
  loading?.catch(() => undefined);
  const hosted = await hostedOf(options, process.env);
  const onError = (error: Error): void => log.warn('traces were lost', { error });
  const tracing = await startTracing(process.env, { serviceName: 'hangar', onError });
  const running = await start(options, log, failpoints);
  // A store that other servers share is managed by their operator.
  const demoFile = options.store.type === 'etcd' ? undefined : join(options.dataDirectory, 'demo.kubeconfig');
  // Start and stop of services are not shown to the user; problems are.
  const servicesLog = logging.level === 'info' ? openLog({ ...logging, level: 'warn' }, process.stderr.isTTY) : log;
  const services = (await loading)?.startServices({
    inside: running.inside,
    log: servicesLog,
    electsLeader,
    demoFile,
    backup: options.backup,
    hasProjects,
    aggregated,
    hosted,
    failpoints,
  });
  // A failure in one part must not end the process for all others.
  process.on('unhandledRejection', (error) => log.error('unhandled rejection', { error }));
  const { dataDirectory } = options;
  await announce(dataDirectory, { pid: process.pid, url: running.url, version, startedAt: Date.now() });
  const rotation = isBackground() ? rotateLog(logFileIn(dataDirectory)) : undefined;
  const surroundings = await watchSurroundings({
    dataDirectory: options.store.type === 'etcd' ? undefined : dataDirectory,
    launchers: await launchersOf(options),
    onLost: (reason) => {
      console.error(`hangar: ${reason}; stopping`);
      signals.stop(1);
      // The store may wait for a disk that is gone.
      systemClock.after(stopMaxMs, () => process.exit(1));
    },
  });
  signals.onStop(async () => {
    surroundings.close();
    rotation?.close();
    await services?.stop();
    await running
      .close()
      .catch((error: unknown) => log.error('the server did not stop cleanly', { error: error as Error }));
    await tracing?.close();
    await withdraw(dataDirectory);
  });
  const [hasDemo = false, hasHosted = false] = await Promise.all([services?.hasDemo, services?.hasHosted]);
  if (signals.isStopping) return;
  const words = { url: running.url, program: program(), options, ...(hasDemo ? { demoFile } : {}) };
  const text = greeting({ ...words, hasHosted, isBackground: isBackground() });
  console.log(text);
  reportReady(text);
  systemClock.after(settledAfterMs, giveBackMemory);
}

/** The command that starts this program, set by bin/hangar.js. */
const program = (): string => process.env['HANGAR_PROGRAM'] ?? 'hangar';

/** npm exits on a signal without passing it on, so a server that it started checks whether it still runs. */
async function launchersOf({ exitsWithParent }: PlatformOptions): Promise<readonly number[]> {
  const isByNpm = process.env['npm_command'] !== undefined;
  if (!(exitsWithParent ?? isByNpm)) return [];
  const found = await launchers(isByNpm);
  // Without npm above it, the variable was inherited by a shell.
  return exitsWithParent === undefined && !found.isUpToNpm ? [] : found.pids;
}
