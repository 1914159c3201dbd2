/**
 * Shows progress on stderr while a command waits: one animated line on a terminal, a line for each change elsewhere. `end` removes the
 * animated line; the next output takes its place.
 */

import type { Clock, Timer } from '@hangar/core';
import type { Output } from '../session.ts';
import { plain, shortened } from './plain-text.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;
export const lastingMs = 5_000;
const defaultColumns = 80;

export class Progress {
  readonly #err: Output;
  readonly #clock: Clock;
  #text = '';
  #frame = 0;
  #timer: Timer | undefined;
  #isShown = false;
  #lasting: { readonly text: string; readonly timer: Timer } | undefined;

  constructor(err: Output, clock: Clock) {
    this.#err = err;
    this.#clock = clock;
  }

  /** Prints the text if it still holds after some seconds: short states are not printed. */
  sayIfLasting(text: string): void {
    if (text === this.#lasting?.text) return;
    this.#lasting?.timer.cancel();
    this.#lasting = { text, timer: this.#clock.after(lastingMs, () => this.say(text)) };
  }

  /** Prints the pending condition. Does not repeat the same text. */
  say(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    if (!this.#err.isTty) return this.#err.write(`${plain(text)}\n`);
    this.#draw();
    this.#timer ??= this.#clock.after(frameMs, () => this.#turn());
  }

  end(): void {
    this.#lasting?.timer.cancel();
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isShown) this.#err.write(clearLine);
    this.#isShown = false;
    this.#text = '';
  }

  #turn(): void {
    this.#frame++;
    this.#draw();
    this.#timer = this.#clock.after(frameMs, () => this.#turn());
  }

  #draw(): void {
    const columns = this.#err.size()?.columns ?? defaultColumns;
    const text = shortened(plain(this.#text), Math.max(1, columns - 3));
    this.#err.write(`${clearLine}${frames[this.#frame % frames.length]} ${text}`);
    this.#isShown = true;
  }
}

const clearLine = '\r\u001b[2K';
