/** Rows in columns, aligned as kubectl does it: three spaces between them, none shorter than six, nothing behind the last. */

import { plain } from './plain-text.ts';

const widthMin = 6;
const gap = 3;

/** Cells are texts of others: they are made plain here. Every line ends with a line feed. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => plain(cell)))];
  const widths = head.map((_, at) => Math.max(widthMin, ...lines.map((line) => lengthOf(line[at] ?? '') + gap)));
  return lines.map((line) => `${lineText(line, widths)}\n`).join('');
}

const lineText = (line: readonly string[], widths: readonly number[]): string =>
  line
    .map((cell, at) => padded(cell, widths[at]!))
    .join('')
    .trimEnd();

const padded = (cell: string, width: number): string => cell + ' '.repeat(Math.max(0, width - lengthOf(cell)));

const lengthOf = (text: string): number => [...text].length;
