/**
 * What a program prints: passed on line by line, each with its prefix, so that no line of one can pass for another's or command a
 * terminal. Bounded in memory and in time: long lines are cut, and a program that prints more than its part (`output-budget.ts`) is not
 * read meanwhile, so that it waits, and not the other programs. What is written goes out in as few pieces as it came in.
 */

import type { Readable } from 'node:stream';
import { errorIn } from './error-lines.ts';
import { LineReader } from './line-reader.ts';
import type { Line } from './line-reader.ts';
import { lineCost } from './output-budget.ts';
import type { OutputBudget, OutputShare } from './output-budget.ts';

const lineBytesMax = 16 * 1024;
/** Of a program that has ended: what a full pipe has in it, as lines are on the average. */
const lastWordsMax = 512 * 1024;

export interface OutputOptions {
  readonly cluster: string;
  readonly service: string;
  /** Shared by all programs. */
  readonly budget: OutputBudget;
  /** Gets whole lines, with their newlines. */
  readonly writeLines: (text: string) => void;
}

export class Output {
  readonly #options: OutputOptions;
  readonly #prefix: string;
  readonly #share: OutputShare;
  readonly #streams: Readable[] = [];
  readonly #readers: LineReader[] = [];
  readonly #closed: Promise<void>[] = [];
  /** What may still be printed; undefined: the program runs, and it is the budget that says. */
  #lastWordsLeft: number | undefined;
  #lastError: string | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#prefix = printable(`[${options.cluster}/${options.service}] `);
    this.#share = options.budget.share(() => this.#resume());
  }

  /** The last line that looked like an error, without its time and place. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Resolves when all streams are closed. */
  get closed(): Promise<unknown> {
    return Promise.all(this.#closed);
  }

  follow(stream: Readable): void {
    const reader = new LineReader(lineBytesMax);
    this.#streams.push(stream);
    this.#readers.push(reader);
    this.#closed.push(
      new Promise((resolve) => {
        stream.once('close', () => {
          this.#end(reader);
          resolve();
        });
      }),
    );
    stream.on('error', () => {}); // It is closed then.
    stream.on('data', (chunk: Buffer) => {
      reader.add(chunk);
      this.#pass();
    });
  }

  /** The program has ended: what is on its way is read at once. What is more than a pipe can hold is not its own. */
  drain(): void {
    this.#share.close();
    this.#lastWordsLeft ??= lastWordsMax;
    this.#resume();
  }

  /** Somebody else holds the other ends open: nothing more is read. */
  abandon(): void {
    this.#share.close();
    for (const stream of this.#streams) stream.destroy();
  }

  #resume(): void {
    this.#pass();
    if (this.#isSpent()) return;
    for (const stream of this.#streams) if (stream.isPaused()) stream.resume();
  }

  /** Passes on what may be, and reads nothing more when that was not all. */
  #pass(): void {
    let text = '';
    for (const reader of this.#readers) {
      while (!this.#isSpent()) {
        const line = reader.next();
        if (!line) break;
        text += this.#text(line);
      }
    }
    if (text !== '') this.#options.writeLines(text);
    if (!this.#isSpent()) return;
    if (this.#lastWordsLeft === undefined) for (const stream of this.#streams) stream.pause();
    else this.#leaveOut();
  }

  #isSpent(): boolean {
    return this.#lastWordsLeft === undefined ? this.#share.isSpent() : this.#lastWordsLeft <= 0;
  }

  #leaveOut(): void {
    if (this.#streams.every(({ destroyed }) => destroyed)) return;
    this.#options.writeLines(`${this.#prefix}… (the rest of its output is omitted)\n`);
    this.abandon();
  }

  /** Whatever it has not passed on: a stream may be closed while it is paused. */
  #end(reader: LineReader): void {
    if (this.#lastWordsLeft !== undefined && this.#isSpent()) return;
    let text = '';
    for (let count = 0, line = reader.next(); line && count < lastWordsMax / lineCost; count++, line = reader.next()) {
      text += this.#text(line);
    }
    const last = reader.last();
    if (last) text += this.#text(last);
    if (text !== '') this.#options.writeLines(text);
  }

  #text({ bytes, isCut }: Line): string {
    const said = printable(bytes.toString('utf8').replace(/\r$/, ''));
    this.#lastError = errorIn(said) ?? this.#lastError;
    const text = `${this.#prefix}${said}${isCut ? '… (truncated)' : ''}\n`;
    const cost = text.length + lineCost;
    if (this.#lastWordsLeft === undefined) this.#share.spend(cost);
    else this.#lastWordsLeft -= cost;
    return text;
  }
}

/** Control characters, which could forge a line or move a terminal's cursor, only as escapes. */
const printable = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
