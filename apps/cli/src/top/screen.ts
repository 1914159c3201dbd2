/** Renders rows as a table, and a table as a screen that overwrites the previous one. */

import type { JsonObject } from '@hangar/api/json';
import { bytesText, shortNumber } from '../terminal/figures.ts';
import { shortened } from '../terminal/plain-text.ts';
import { unstyled } from '../terminal/styles.ts';
import type { Styler } from '../terminal/styles.ts';
import { table } from '../terminal/table.ts';
import type { Recommendation } from './recommendations.ts';
import type { TopRow } from './rows.ts';

const head = ['NAME', 'REQUESTS/S', 'OBJECTS', 'STORED', 'MEMORY', 'SHARE', 'WATCHES'];

/** Unknown numbers are absent. */
export const rowsAsList = (rows: readonly TopRow[]): JsonObject => ({
  items: rows.map(({ name, rate, objects, storedBytes, memoryBytes, memoryShare, watches, recommendation }) => ({
    name,
    ...(rate === undefined ? {} : { requestsPerSecond: rate }),
    ...(objects === undefined ? {} : { objects }),
    ...(storedBytes === undefined ? {} : { storedBytes }),
    memoryBytes,
    memoryShare,
    watches,
    ...(recommendation ? { recommendation: { ...recommendation } } : {}),
  })),
});

/** The column of recommendations appears only if there is one. */
export function topTable(rows: readonly TopRow[], style: Styler = unstyled): string {
  const isRecommended = rows.some(({ recommendation }) => recommendation !== undefined);
  return table(
    isRecommended ? [...head, 'RECOMMENDED'] : head,
    rows.map(({ name, rate, objects, storedBytes, memoryBytes, memoryShare, watches, recommendation }) => [
      name,
      rate === undefined ? '-' : shortNumber(rate),
      objects === undefined ? '-' : String(objects),
      storedBytes === undefined ? '-' : bytesText(storedBytes),
      bytesText(memoryBytes),
      `${Math.round(memoryShare * 100)}%`,
      String(watches),
      ...(isRecommended ? [recommendation ? recommendationText(recommendation) : ''] : []),
    ]),
    { style },
  );
}

/** Example: `→ dedicated: 120,431 objects (threshold: 100,000)`. */
const recommendationText = ({ mode, message }: Recommendation): string => `→ ${mode.toLowerCase()}: ${message}`;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Lines besides those of tenants: two of the title, the table header, the last line. */
const otherLines = 4;
export const rowsThatFit = ({ rows }: ScreenSize): number => Math.max(1, rows - otherLines);

/** Starts at the upper left corner, and clears the rest of each line and of the screen. Lines are truncated, not wrapped. */
export function screen(title: string, text: string, { columns, rows }: ScreenSize): string {
  const lines = [title, '', ...text.trimEnd().split('\n')].slice(0, Math.max(1, rows - 1));
  return `\u001b[H${lines.map((line) => `${shortened(line, columns)}\u001b[K\n`).join('')}\u001b[J`;
}

/** Uses the alternate screen, so that the previous content is restored afterwards. */
export const enterScreen = '\u001b[?1049h\u001b[?25l';
export const leaveScreen = '\u001b[?25h\u001b[?1049l';
