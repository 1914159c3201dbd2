/** Receive window of a stream or of the connection: it shrinks with received data and grows with read data. */

export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  /** Bytes read but not yet added to the window. */
  #owed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** Returns false if the other side exceeded the window. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Returns the increment for a WINDOW_UPDATE now: not for every frame, but for a good part of the window. */
  give(bytes: number): number {
    this.#owed += bytes;
    if (this.#owed < this.#size / 4) return 0;
    const owed = this.#owed;
    this.#left += owed;
    this.#owed = 0;
    return owed;
  }
}
