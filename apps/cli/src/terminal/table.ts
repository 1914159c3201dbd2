/** Rows in columns, aligned as kubectl does it: three spaces between them, none shorter than six, nothing behind the last. */

import { plain } from './plain-text.ts';
import { unstyled } from './styles.ts';
import type { Style, Styler } from './styles.ts';

const widthMin = 6;
const gap = 3;

export interface TableOptions {
  readonly style?: Styler;
  /** Returns how a cell below the head is shown; undefined: as it is. */
  readonly styleOf?: (column: string, cell: string) => Style | undefined;
}

/** Cells may contain text of other users: they are escaped here. Every line ends with a line feed. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[], options?: TableOptions): string =>
  new Table(head, options).text(rows);

/** A table that is written in pieces: rows that come later keep the columns of the earlier ones. */
export class Table {
  readonly #head: readonly string[];
  readonly #options: TableOptions;
  #widths: readonly number[] | undefined;

  constructor(head: readonly string[], options: TableOptions = {}) {
    this.#head = head;
    this.#options = options;
  }

  /** Returns the rows as lines; the first call begins with the head. */
  text(rows: readonly (readonly string[])[]): string {
    const isFirst = this.#widths === undefined;
    const lines = rows.map((row) => row.map((cell) => plain(cell)));
    const measured = isFirst ? [this.#head, ...lines] : lines;
    this.#widths = this.#head.map((_, at) =>
      Math.max(this.#widths?.[at] ?? widthMin, ...measured.map((line) => lengthOf(line[at] ?? '') + gap)),
    );
    const { style = unstyled, styleOf } = this.#options;
    const head = isFirst ? [this.#line(this.#head, () => (cell) => style('head', cell))] : [];
    const body = lines.map((line) =>
      this.#line(line, (column) => (cell) => {
        const found = styleOf?.(column, cell);
        return found === undefined ? cell : style(found, cell);
      }),
    );
    return [...head, ...body].map((line) => `${line}\n`).join('');
  }

  #line(cells: readonly string[], styled: (column: string) => (cell: string) => string): string {
    const last = cells.findLastIndex((cell) => cell !== '');
    return cells
      .slice(0, last + 1)
      .map((cell, at) => {
        const space = at === last ? 0 : Math.max(0, this.#widths![at]! - lengthOf(cell));
        return styled(this.#head[at] ?? '')(cell) + ' '.repeat(space);
      })
      .join('');
  }
}

const lengthOf = (text: string): number => [...text].length;
