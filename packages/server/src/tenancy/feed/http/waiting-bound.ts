/**
 * What waits for all readers of a server together is bounded, besides what waits for each of them: beyond it, the one for whom most
 * waits is cut off, however little the one reads for whom something came just now.
 */

export interface Waiting {
  /** What it does not take. */
  readonly waitingBytes: number;
  cut(): void;
}

const allWaitingBytesMax = 256 * 1024 * 1024;

export class WaitingBound {
  readonly #bytesMax: number;
  /** Few: they are looked through whenever something has to wait. */
  readonly #readers = new Set<Waiting>();

  constructor(bytesMax: number = allWaitingBytesMax) {
    this.#bytesMax = bytesMax;
  }

  add(reader: Waiting): void {
    this.#readers.add(reader);
  }

  delete(reader: Waiting): void {
    this.#readers.delete(reader);
  }

  /** More waits than before. */
  check(): void {
    let [sum, slowest]: [number, Waiting | undefined] = [0, undefined];
    for (const reader of this.#readers) {
      sum += reader.waitingBytes;
      if (!slowest || reader.waitingBytes > slowest.waitingBytes) slowest = reader;
    }
    if (sum > this.#bytesMax) slowest!.cut();
  }
}
