/** `hangar logs`: prints the log of a server that runs in the background. */

import { open, stat } from 'node:fs/promises';
import { sleep } from '@hangar/core';
import { findServer, logFileIn } from '@hangar/core/command-line';
import type { Command } from '../command.ts';
import { failed, usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { dataDirOption, serverFolder } from './common/server-folder.ts';
import { stayingAlive } from './common/staying-alive.ts';

const pollMs = 200;
const chunkBytes = 64 * 1024;

export const logs: Command = {
  name: 'logs',
  summary: 'print the log of a server that runs in the background',
  description:
    'The log is hangar.log in the data directory. Above 10 MiB it becomes hangar.log.1, and three old files are kept.',
  args: [],
  options: [
    { name: 'follow', short: 'f', meaning: 'print new lines until the server exits or Ctrl-C' },
    { name: 'tail', value: 'N', meaning: 'only the last N lines (default: all)' },
    dataDirOption,
  ],
  examples: ['logs', 'logs -f --tail 20'],
  async run({ session, given }) {
    const linesMax = lineCount(given.text('tail'));
    const folder = serverFolder(session, given);
    const path = logFileIn(folder);
    if (!(await exists(path))) {
      throw failed(`${folder} has no log`, { next: `start a server with a log: ${hangar('up --detach')}` });
    }
    let position = await printFrom(session, path, linesMax === undefined ? 0 : await lastLines(path, linesMax));
    await stayingAlive(async () => {
      while (given.flag('follow') && (await findServer(folder)).state === 'running') {
        await sleep(session.clock, pollMs, session.signal);
        position = await printFrom(session, path, position);
      }
    });
  },
};

function lineCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw usage(`--tail must be a number of lines, not ${quoted(text)}`);
  return Number(text);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Returns the position of the next byte. A file that became shorter was rotated: it is read from its start. */
async function printFrom({ out, signal }: Session, path: string, from: number): Promise<number> {
  const file = await open(path);
  try {
    let position = (await file.stat()).size < from ? 0 : from;
    const chunk = Buffer.alloc(chunkBytes);
    while (!signal.aborted) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, position);
      if (bytesRead === 0) break;
      out.write(Buffer.from(chunk.subarray(0, bytesRead)));
      await out.drained();
      position += bytesRead;
    }
    return position;
  } finally {
    await file.close();
  }
}

/** Returns the position at which the last `count` lines start. Reads the file backwards. */
async function lastLines(path: string, count: number): Promise<number> {
  const file = await open(path);
  try {
    let position = (await file.stat()).size;
    let left = count + 1;
    while (position > 0) {
      const length = Math.min(chunkBytes, position);
      const chunk = Buffer.alloc(length);
      await file.read(chunk, 0, length, position - length);
      for (let at = length - 1; at >= 0; at--) {
        if (chunk[at] === 0x0a && --left === 0) return position - length + at + 1;
      }
      position -= length;
    }
    return 0;
  } finally {
    await file.close();
  }
}
