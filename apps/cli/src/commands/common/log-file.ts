/** Prints log files: whole, the last lines, or from a position. */

import { open, stat } from 'node:fs/promises';
import type { OptionSpec } from '../../command.ts';
import { usage } from '../../errors.ts';
import type { Session } from '../../session.ts';
import { quoted } from '../../terminal/plain-text.ts';

const chunkBytes = 64 * 1024;

export const tailOption: OptionSpec = { name: 'tail', value: 'N', meaning: 'only the last N lines (default: all)' };

/** Of `--tail`. Throws `Usage`. */
export function lineCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw usage(`--tail must be a number of lines, not ${quoted(text)}`);
  return Number(text);
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Returns the position of the next byte. A file that became shorter was rotated: it is read from its start. */
export async function printFrom({ out, signal }: Session, path: string, from: number): Promise<number> {
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
export async function lastLines(path: string, count: number): Promise<number> {
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
