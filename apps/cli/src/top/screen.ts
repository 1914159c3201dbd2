/** Rows as a table, and a table as a screen that is drawn over the one before. */

import type { JsonObject } from '@hangar/api/json';
import { bytesText, shortNumber } from '../terminal/figures.ts';
import { shortened } from '../terminal/plain-text.ts';
import { unstyled } from '../terminal/styles.ts';
import type { Styler } from '../terminal/styles.ts';
import { table } from '../terminal/table.ts';
import type { TopRow } from './rows.ts';

const head = ['NAME', 'REQUESTS/S', 'OBJECTS', 'STORED', 'MEMORY', 'SHARE', 'WATCHES'];

/** A number that is not known is absent. */
export const rowsAsList = (rows: readonly TopRow[]): JsonObject => ({
  items: rows.map(({ name, rate, objects, storedBytes, memoryBytes, memoryShare, watches }) => ({
    name,
    ...(rate === undefined ? {} : { requestsPerSecond: rate }),
    ...(objects === undefined ? {} : { objects }),
    ...(storedBytes === undefined ? {} : { storedBytes }),
    memoryBytes,
    memoryShare,
    watches,
  })),
});

export const topTable = (rows: readonly TopRow[], style: Styler = unstyled): string =>
  table(
    head,
    rows.map(({ name, rate, objects, storedBytes, memoryBytes, memoryShare, watches }) => [
      name,
      rate === undefined ? '-' : shortNumber(rate),
      objects === undefined ? '-' : String(objects),
      storedBytes === undefined ? '-' : bytesText(storedBytes),
      bytesText(memoryBytes),
      `${Math.round(memoryShare * 100)}%`,
      String(watches),
    ]),
    { style },
  );

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Lines besides the tenants': the two of the title, the head, the one at the end. */
const otherLines = 4;
export const rowsThatFit = ({ rows }: ScreenSize): number => Math.max(1, rows - otherLines);

/** From the upper left corner; every line is cleared behind itself, and everything below the last. No line is broken. */
export function screen(title: string, text: string, { columns, rows }: ScreenSize): string {
  const lines = [title, '', ...text.trimEnd().split('\n')].slice(0, Math.max(1, rows - 1));
  return `\u001b[H${lines.map((line) => `${shortened(line, columns)}\u001b[K\n`).join('')}\u001b[J`;
}

/** On the alternate screen, so that what was there before is there afterwards. */
export const enterScreen = '\u001b[?1049h\u001b[?25l';
export const leaveScreen = '\u001b[?25h\u001b[?1049l';
