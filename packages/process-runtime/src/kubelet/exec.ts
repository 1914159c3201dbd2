/** `POST /exec/<namespace>/<pod>/<container>` and `POST /attach/…`. */

import type { ChildProcess } from 'node:child_process';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { readLog } from '../logs/log-reader.ts';
import type { ContainerUnit } from '../pods/container-unit.ts';
import { killCommand } from '../pods/run-command.ts';
import { exitStatus, failureStatus } from './remote-streams.ts';
import type { RemoteSession } from './remote-streams.ts';

/** Runs a command in the container, and sends its output and its exit code. */
export async function exec(
  session: RemoteSession,
  unit: ContainerUnit,
  { command, isTty }: { command: readonly string[]; isTty: boolean },
): Promise<void> {
  let child: ChildProcess;
  try {
    child = await unit.spawn(command, { isTty });
  } catch (error) {
    return session.conclude(failureStatus(asError(error).message));
  }
  session.onClose(() => killCommand(child));
  child.once('error', (error) => session.conclude(failureStatus(error.message)));
  const { stdin, stdout, stderr } = child;
  for (const [name, stream] of [
    ['stdout', stdout!],
    ['stderr', stderr!],
  ] as const) {
    stream.on('data', (piece: Buffer) => {
      if (!session.output(isTty ? 'stdout' : name, piece)) stream.pause();
    });
  }
  session.connection.onDrain(() => {
    stdout!.resume();
    stderr!.resume();
  });
  // A command that does not read its input has closed it.
  stdin!.on('error', () => {});
  stdin!.on('drain', () => session.connection.resume());
  session.onInput(
    (piece) => {
      if (!stdin!.destroyed && !stdin!.write(Buffer.from(piece))) session.connection.pause();
    },
    () => stdin!.end(),
  );
  // `close` follows the end of both outputs.
  child.once('close', (code, signal) => session.conclude(exitStatus(code ?? (signal ? 137 : 1))));
}

/** Sends new output of the container until it exits. The program has no standard input. */
export async function attach(session: RemoteSession, unit: ContainerUnit, clock: Clock): Promise<void> {
  if (!unit.isRunning) return session.conclude(failureStatus(`container ${unit.name} is not running`));
  const stop = new AbortController();
  session.onClose(() => stop.abort());
  const run = unit.restartCount;
  const isRunning = (): boolean => unit.isRunning && unit.restartCount === run;
  try {
    for await (const chunk of readLog({
      path: unit.logPath(run),
      tailLines: 0,
      isRunning,
      clock,
      signal: stop.signal,
    })) {
      session.output('stdout', chunk);
    }
    session.conclude(exitStatus(unit.terminated?.exitCode ?? 0));
  } catch (error) {
    session.conclude(failureStatus(asError(error).message));
  }
}
