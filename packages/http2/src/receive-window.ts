/** What the other end may send, of a stream or of the connection: we take it back as it sends, and give as we read. */

export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  /** Read, and not given back yet. */
  #owed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** False: it sent more than it may. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** How much to tell the other end now: not of every frame, but of a good part of the window. */
  give(bytes: number): number {
    this.#owed += bytes;
    if (this.#owed < this.#size / 4) return 0;
    const owed = this.#owed;
    this.#left += owed;
    this.#owed = 0;
    return owed;
  }
}
