/** Counts the bytes that all connections of a control plane hold for their readers. */

export interface HeldBytesUser {
  /** Called when there is room again. */
  hasRoom(): void;
}

export class HeldBytes {
  readonly #max: number;
  readonly #waiting = new Set<HeldBytesUser>();
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Reports whether the limit is exceeded. If so, `user` is notified when it no longer is. */
  isFull(user: HeldBytesUser): boolean {
    const isFull = this.#bytes > this.#max;
    if (isFull) this.#waiting.add(user);
    else this.#waiting.delete(user);
    return isFull;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#waiting.size === 0 || this.#bytes > this.#max) return;
    for (const user of this.#waiting) user.hasRoom();
  }

  forget(user: HeldBytesUser): void {
    this.#waiting.delete(user);
  }
}
