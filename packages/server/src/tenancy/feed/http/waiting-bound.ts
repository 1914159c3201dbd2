/**
 * Bounds the queues of all readers of a server together, in addition to the limit per reader. Beyond it, the reader with the longest queue
 * is disconnected, not the one whose queue has just grown.
 */

export interface Waiting {
  /** Number of bytes in the queue. */
  readonly waitingBytes: number;
  cut(): void;
}

const allWaitingBytesMax = 256 * 1024 * 1024;

export class WaitingBound {
  readonly #bytesMax: number;
  /** A small set: each growth of a queue iterates over it. */
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

  /** Called when a queue has grown. */
  check(): void {
    let [sum, slowest]: [number, Waiting | undefined] = [0, undefined];
    for (const reader of this.#readers) {
      sum += reader.waitingBytes;
      if (!slowest || reader.waitingBytes > slowest.waitingBytes) slowest = reader;
    }
    if (sum > this.#bytesMax) slowest!.cut();
  }
}
