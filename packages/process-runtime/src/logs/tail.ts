/** The end of a log file as plain text. */

import { open } from 'node:fs/promises';

/** Returns the last lines of a log, at most `bytesMax` bytes of text. */
export async function tailOf(path: string, bytesMax: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    // Times and stream names take about 45 bytes of each line.
    const length = Math.min(size, bytesMax * 4 + 4_096);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer.toString('utf8').split('\n');
    if (length < size) lines.shift();
    return lines
      .map((line) => /^\S+ (?:stdout|stderr) ([FP]) (.*)$/.exec(line))
      .map((parts) => (parts ? `${parts[2]}${parts[1] === 'F' ? '\n' : ''}` : ''))
      .join('')
      .slice(-bytesMax);
  } finally {
    await file.close();
  }
}
