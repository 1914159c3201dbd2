/**
 * What a program prints: passed on line by line, each with its prefix, so that no line of one can pass for another's or command a
 * terminal. Bounded in memory and in time: long lines are cut, and a program that prints faster than anybody reads is read more slowly,
 * so that it waits, and not the other programs.
 */

import type { Readable } from 'node:stream';
import { errorIn } from './error-lines.ts';

const lineBytesMax = 16 * 1024;
const bytesPerSecondMax = 4 * 1024 * 1024;
const newline = 0x0a;

export interface OutputOptions {
  readonly cluster: string;
  readonly service: string;
  /** Gets a line with its newline. */
  readonly writeLine: (text: string) => void;
}

export class Output {
  readonly #options: OutputOptions;
  readonly #prefix: string;
  readonly #streams: Readable[] = [];
  readonly #closed: Promise<void>[] = [];
  #budgetBytes = bytesPerSecondMax;
  #lastError: string | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#prefix = printable(`[${options.cluster}/${options.service}] `);
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
    const lines = new Lines((line, isCut) => this.#line(line, isCut));
    this.#streams.push(stream);
    this.#closed.push(
      new Promise((resolve) => {
        stream.once('close', () => {
          lines.end();
          resolve();
        });
      }),
    );
    stream.on('error', () => {}); // It is closed then.
    stream.on('data', (chunk: Buffer) => {
      this.#budgetBytes -= chunk.length;
      if (this.#budgetBytes <= 0) for (const one of this.#streams) one.pause();
      lines.add(chunk);
    });
  }

  /** Once a second: what was too much may come now. */
  refill(budgetBytes = bytesPerSecondMax): void {
    this.#budgetBytes = budgetBytes;
    for (const stream of this.#streams) if (stream.isPaused()) stream.resume();
  }

  /** The program has ended: what is on its way is read at once. */
  drain(): void {
    this.refill(Infinity);
  }

  /** Somebody else holds the other ends open: nothing more is read. */
  abandon(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  #line(bytes: Buffer, isCut: boolean): void {
    const text = printable(bytes.toString('utf8').replace(/\r$/, ''));
    this.#lastError = errorIn(text) ?? this.#lastError;
    this.#options.writeLine(`${this.#prefix}${text}${isCut ? '… (cut)' : ''}\n`);
  }
}

/** Control characters, which could forge a line or move a terminal's cursor, only as escapes. */
const printable = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** Splits at newlines; keeps at most one cut line. */
class Lines {
  readonly #tell: (line: Buffer, isCut: boolean) => void;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(tell: (line: Buffer, isCut: boolean) => void) {
    this.#tell = tell;
  }

  add(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#flush();
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #keep(part: Buffer): void {
    const room = Math.max(0, lineBytesMax - this.#length);
    this.#length += part.length;
    // A copy: a short rest must not keep the whole chunk alive.
    if (room > 0 && part.length > 0) this.#parts.push(Buffer.from(part.subarray(0, room)));
  }

  #flush(): void {
    const isCut = this.#length > lineBytesMax;
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#tell(line, isCut);
  }
}
