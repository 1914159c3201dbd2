/** Counts the bytes that connections hold for their readers: of a control plane, and of all of them. */

export interface HeldBytesUser {
  /** Called when there is room again. */
  hasRoom(): void;
}

const defaultTotalMax = 128 * 1024 * 1024;
/** A control plane may hold this much even if the others hold the rest. */
const guaranteedBytes = 256 * 1024;

/** The bytes of all control planes of a process. */
export class TotalHeldBytes {
  readonly #max: number;
  readonly #waiting = new Set<HeldBytesUser>();
  bytes = 0;

  constructor(max = defaultTotalMax) {
    this.#max = max;
  }

  /** A control plane may hold at most as many as are free, so that those that hold the most wait first. */
  isFullFor(ownBytes: number, user: HeldBytesUser): boolean {
    const isFull = ownBytes > guaranteedBytes && ownBytes > this.#max - this.bytes;
    if (isFull) this.#waiting.add(user);
    else this.#waiting.delete(user);
    return isFull;
  }

  release(bytes: number): void {
    this.bytes -= bytes;
    for (const user of this.#waiting) user.hasRoom();
  }

  forget(user: HeldBytesUser): void {
    this.#waiting.delete(user);
  }
}

export class HeldBytes {
  readonly #max: number;
  readonly #total: TotalHeldBytes;
  readonly #waiting = new Set<HeldBytesUser>();
  #bytes = 0;

  constructor(max: number, total = new TotalHeldBytes()) {
    this.#max = max;
    this.#total = total;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#total.bytes += bytes;
  }

  /** Reports whether a limit is exceeded. If so, `user` is notified when it no longer is. */
  isFull(user: HeldBytesUser): boolean {
    const isFull = this.#bytes > this.#max;
    if (isFull) this.#waiting.add(user);
    else this.#waiting.delete(user);
    return this.#total.isFullFor(this.#bytes, user) || isFull;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#total.release(bytes);
    if (this.#waiting.size === 0 || this.#bytes > this.#max) return;
    for (const user of this.#waiting) user.hasRoom();
  }

  forget(user: HeldBytesUser): void {
    this.#waiting.delete(user);
    this.#total.forget(user);
  }
}
