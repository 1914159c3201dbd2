/**
 * Writes bytes that arrive in one turn of the event loop together. A kubelet sends every line of a log as a separate piece, and TLS delivers
 * at most 16 KiB at once, while each write has a fixed cost. A short piece after a turn with at most one is written at once: it is a line of
 * a person or its echo, and nothing follows with which it could be written.
 */

/** The part of a sink that is used here. */
export interface BatchTarget {
  /** Returns false if the client does not keep up: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean;
  /** Reports whether the system has all written bytes, so that their buffers may be used again. Absent: unknown. */
  isFlushed?(): boolean;
  onDrain(callback: () => void): void;
}

export interface BatchSource {
  pause(): unknown;
  resume(): unknown;
}

/** Longer pieces are never written at once. */
const shortBytes = 1024;
const batchBytesMax = 64 * 1024;
/** Larger batches use another buffer. */
const smallBytes = 4 * 1024;
/** The written batch, the current one and one more. */
const buffersMax = 3;

/**
 * A buffer that is used again. New buffers would lie outside of the heap of V8, which collects the whole heap after some tens of megabytes of
 * them: for a server with many objects, that costs more than the encryption. The reference is weak, so that an idle stream holds none.
 */
type ReusedBuffer = WeakRef<ArrayBuffer>;

/** Buffers belong to one writer, so that bytes of a stream never appear in another one. */
export class BatchWriter {
  readonly #target: BatchTarget;
  readonly #source: BatchSource;
  #batch: Buffer | undefined;
  /** Batches of a slow stream are collected here, and copied when they are written. */
  #small: Buffer | undefined;
  #length = 0;
  /** Buffers that the target may still read. */
  #written: ReusedBuffer[] = [];
  #unused: ReusedBuffer[] = [];
  #isScheduled = false;
  /** Whether several pieces arrived in the last turn: the next ones wait for the end of their turn. */
  #isBusy = false;
  /** Pieces of this turn. */
  #pieces = 0;
  /**
   * The last piece was written at once, and the target had not flushed it. Once the target has, a new turn began. So the end of the turn is not
   * scheduled, which was 7 % of the CPU time of a round trip.
   */
  #isAloneUnflushed = false;
  /** The target has not drained yet. */
  #isWaiting = false;
  #isPaused = false;

  /** The source is paused while the target does not keep up: at most the written batch and another one are in memory. */
  constructor(target: BatchTarget, source: BatchSource) {
    this.#target = target;
    this.#source = source;
    target.onDrain(() => this.#drained());
  }

  /** Copies the bytes. They are written at once, at the end of this turn, or when the target has drained. */
  append(bytes: Buffer, start = 0, end = bytes.length): void {
    if (start === end) return;
    if (this.#isAloneUnflushed && this.#target.isFlushed!()) {
      this.#isAloneUnflushed = false;
      this.#pieces = 0;
    }
    const isAlone = this.#pieces++ === 0 && !this.#isBusy && !this.#isWaiting && end - start <= shortBytes;
    if (isAlone) {
      this.#write(Buffer.from(bytes.subarray(start, end)));
      this.#isAloneUnflushed = this.#target.isFlushed?.() === false;
      if (this.#isAloneUnflushed) return;
    } else this.#collect(bytes, start, end);
    if (this.#isScheduled || this.#isWaiting) return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  #collect(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end;) {
      const batch = this.#batchFor(end - at);
      const copied = bytes.copy(batch, this.#length, at, end);
      at += copied;
      this.#length += copied;
      if (this.#length === batchBytesMax) this.#full();
    }
  }

  /** Writes the current batch, also if the target has not drained. */
  flush(): void {
    const length = this.#length;
    if (length === 0) return;
    const batch = this.#batch!;
    this.#batch = undefined;
    this.#length = 0;
    let bytes = batch.subarray(0, length);
    if (batch === this.#small) bytes = Buffer.from(bytes);
    else if (this.#target.isFlushed && this.#written.length < buffersMax) {
      this.#written.push(new WeakRef(batch.buffer as ArrayBuffer));
    }
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    if (!this.#target.write(bytes)) this.#isWaiting = true;
  }

  /** Returns the current batch. A batch starts small and grows once. */
  #batchFor(bytes: number): Buffer {
    const batch = this.#batch;
    const length = this.#length + bytes;
    if (batch && (batch.length === batchBytesMax || length <= batch.length)) return batch;
    if (length <= smallBytes) return (this.#batch = this.#small ??= Buffer.allocUnsafeSlow(smallBytes));
    const larger = this.#reused() ?? Buffer.allocUnsafeSlow(batchBytesMax);
    batch?.copy(larger, 0, 0, this.#length);
    return (this.#batch = larger);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.#isAloneUnflushed = false;
    this.#isBusy = this.#pieces > 1;
    this.#pieces = 0;
    if (!this.#isWaiting) this.flush();
  };

  #full(): void {
    if (this.#isWaiting && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.flush();
  }

  #drained(): void {
    this.#isWaiting = false;
    if (!this.#isScheduled) this.#pieces = 0;
    this.flush();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  #reused(): Buffer | undefined {
    if (this.#written.length > 0 && this.#target.isFlushed!()) {
      this.#unused = this.#written;
      this.#written = [];
    }
    while (this.#unused.length > 0) {
      const buffer = this.#unused.pop()!.deref();
      if (buffer) return Buffer.from(buffer);
    }
    return undefined;
  }
}
