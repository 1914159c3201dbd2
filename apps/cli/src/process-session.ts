/** The session of this process: its streams, files and signals. */

import { once } from 'node:events';
import { constants, homedir } from 'node:os';
import type { ReadStream, WriteStream } from 'node:tty';
import { abortError, systemClock } from '@hangar/core';
import type { Output, Session } from './session.ts';
import { version } from './version.ts';

/** `signal` aborts pending operations. */
export function processSession(signal: AbortSignal): Session {
  const input = process.stdin as ReadStream;
  const hasKeyboard = Boolean(input.isTTY && process.stderr.isTTY);
  return {
    out: outputOf(process.stdout as WriteStream),
    err: outputOf(process.stderr as WriteStream),
    ...(hasKeyboard ? { ask: (question: string) => ask(question, signal), keys: pressedKeys } : {}),
    env: process.env,
    homeFolder: homedir(),
    folder: process.cwd(),
    clock: systemClock,
    signal,
    // Set by bin/hangar.js.
    program: process.env['HANGAR_PROGRAM'] ?? 'hangar',
    runProgram,
    async connect(config) {
      const { connect } = await import('@hangar/client');
      // A user waits for the result: fail at once instead of retrying.
      return connect(config, { userAgent: `hangar/${version()}`, connectTimeoutMs, retry: { brokenMax: 1 } });
    },
  };
}

const connectTimeoutMs = 10_000;

/**
 * Ctrl-C reaches the program through the terminal, so it must not end this process; other signals are forwarded. Restores the handlers of
 * this process afterwards.
 */
async function runProgram([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { spawn } = await import('node:child_process');
  const child = spawn(program, args, { env, stdio: 'inherit' });
  const passed = ['SIGTERM', 'SIGHUP'] as const;
  const before = (['SIGINT', ...passed] as const).map((name) => ({ name, listeners: process.listeners(name) }));
  for (const { name } of before) {
    process.removeAllListeners(name);
    process.on(name, () => name !== 'SIGINT' && child.kill(name));
  }
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (constants.signals[signal!] ?? 0);
  } finally {
    for (const { name, listeners } of before) {
      process.removeAllListeners(name);
      for (const listener of listeners) process.on(name, listener);
    }
  }
}

function outputOf(stream: WriteStream): Output {
  return {
    isTty: Boolean(stream.isTTY),
    write: (text) => void stream.write(text),
    drained: async () => {
      if (stream.writableNeedDrain) await once(stream, 'drain');
    },
    size: () => (stream.isTTY && stream.columns > 0 ? { columns: stream.columns, rows: stream.rows } : undefined),
  };
}

async function ask(question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-D closes the input without an answer.
    const gone = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    return await Promise.race([lines.question(question, { signal }), gone]);
  } catch (error) {
    if (signal.aborted) throw abortError(signal);
    throw error;
  } finally {
    lines.close();
  }
}

function pressedKeys(onKey: (key: string) => void, signal: AbortSignal): void {
  const input = process.stdin as ReadStream;
  const onData = (data: Buffer): void => onKey(data.toString('latin1'));
  input.setRawMode(true);
  input.on('data', onData);
  signal.addEventListener(
    'abort',
    () => {
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
    },
    { once: true },
  );
}
