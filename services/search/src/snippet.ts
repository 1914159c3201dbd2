/** A part of the text of an object around the first word of a query. */

import { folded } from './document/terms.ts';

const before = 40;
const lengthMax = 160;

/** Returns '' if no line has a word, for example because only the name has it. */
export function snippetOf(lines: string, words: readonly string[]): string {
  for (const line of lines.split('\n')) {
    const text = folded(line);
    // Folding can change the length of other letters; then the start of the line is shown.
    const found = words.map((word) => text.indexOf(word)).filter((at) => at >= 0);
    if (found.length === 0) continue;
    const start = text.length === line.length ? Math.max(0, Math.min(...found) - before) : 0;
    const end = start + lengthMax;
    const shown = line.slice(start, end).trim();
    return `${start > 0 ? '…' : ''}${shown}${end < line.length ? '…' : ''}`;
  }
  return '';
}
