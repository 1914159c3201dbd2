/**
 * Forwards the output of a program line by line, each line with its prefix, so that a line cannot be mistaken for one of another program or
 * control a terminal. Bounded in memory and time: long lines are cut, and a program that exceeds its share (`output-budget.ts`) is not read
 * meanwhile, so that it blocks, and not the other programs. Output is written in as few chunks as it arrives in.
 */

import type { Readable } from 'node:stream';
import { errorIn } from './error-lines.ts';
import { LineReader } from './line-reader.ts';
import type { Line } from './line-reader.ts';
import { lineCost } from './output-budget.ts';
import type { OutputBudget, OutputShare } from './output-budget.ts';

const lineBytesMax = 16 * 1024;
/** For a program that has exited: the content of a full pipe with lines of average length. */
const lastWordsMax = 512 * 1024;

export interface OutputOptions {
  readonly cluster: string;
  readonly service: string;
  /** Shared by all programs. */
  readonly budget: OutputBudget;
  /** Receives whole lines, with their newlines. */
  readonly writeLines: (text: string) => void;
}

export class Output {
  readonly #options: OutputOptions;
  readonly #prefix: string;
  readonly #share: OutputShare;
  readonly #streams: Readable[] = [];
  readonly #readers: LineReader[] = [];
  readonly #closed: Promise<void>[] = [];
  /** Remaining output after the exit; undefined: the program runs, and the budget applies. */
  #lastWordsLeft: number | undefined;
  #lastError: string | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#prefix = printable(`[${options.cluster}/${options.service}] `);
    this.#share = options.budget.share(() => this.#resume());
  }

  /** The last line that looked like an error, without its time and source. */
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

  /** Called when the program has exited: reads the buffered output at once. More than a pipe holds cannot come from the program. */
  drain(): void {
    this.#share.close();
    this.#lastWordsLeft ??= lastWordsMax;
    this.#resume();
  }

  /** Stops reading, although another process holds the pipes open. */
  abandon(): void {
    this.#share.close();
    for (const stream of this.#streams) stream.destroy();
  }

  #resume(): void {
    this.#pass();
    if (this.#isSpent()) return;
    for (const stream of this.#streams) if (stream.isPaused()) stream.resume();
  }

  /** Forwards what the budget allows, and pauses the streams if output remains. */
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

  /** Forwards the remaining output: a stream may close while it is paused. */
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

/** Escapes control characters, which could forge a line or move the cursor of a terminal. */
const printable = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
