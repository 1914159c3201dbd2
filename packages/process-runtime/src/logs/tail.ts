/** The end of a log file as plain text, and of any file. */

import { open } from 'node:fs/promises';

/** Returns the last lines of a log, at most `bytesMax` bytes of text. */
export async function tailOf(path: string, bytesMax: number): Promise<string> {
  // Times and stream names take about 45 bytes of each line.
  const { text, isWhole } = await lastBytes(path, bytesMax * 4 + 4_096);
  const lines = text.split('\n');
  if (!isWhole) lines.shift();
  return lines
    .map((line) => /^\S+ (?:stdout|stderr) ([FP]) (.*)$/.exec(line))
    .map((parts) => (parts ? `${parts[2]}${parts[1] === 'F' ? '\n' : ''}` : ''))
    .join('')
    .slice(-bytesMax);
}

/** Reads at most the last `bytesMax` bytes of a file. */
export async function lastBytes(path: string, bytesMax: number): Promise<{ text: string; isWhole: boolean }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytesMax);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return { text: buffer.toString('utf8', 0, bytesRead), isWhole: length === size };
  } finally {
    await file.close();
  }
}
