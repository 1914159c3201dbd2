/**
 * Writes bytes that arrive in one turn of the event loop together. A kubelet sends every line of a log as a separate piece, and TLS delivers
 * at most 16 KiB at once, while each write has a fixed cost.
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

const batchBytesMax = 64 * 1024;
/** Smaller batches are copied, so that a slow stream holds no buffer. */
const copiedBytesMax = 4 * 1024;
/**
 * Unused buffers of all streams. New buffers would lie outside of the heap of V8, which collects the whole heap after some tens of megabytes
 * of them: for a server with many objects, that costs more than the encryption.
 */
const unused: Buffer[] = [];
const unusedMax = 16;

export class BatchWriter {
  readonly #target: BatchTarget;
  readonly #source: BatchSource;
  #batch: Buffer | undefined;
  #length = 0;
  /** Buffers that the target may still read. */
  #written: Buffer[] = [];
  #isScheduled = false;
  /** The target has not drained yet. */
  #isWaiting = false;
  #isPaused = false;

  /** The source is paused while the target does not keep up: at most the written batch and another one are in memory. */
  constructor(target: BatchTarget, source: BatchSource) {
    this.#target = target;
    this.#source = source;
    target.onDrain(() => this.#drained());
  }

  /** Copies the bytes. They are written at the end of this turn, or when the target has drained. */
  append(bytes: Buffer, start = 0, end = bytes.length): void {
    for (let at = start; at < end;) {
      this.#batch ??= this.#newBatch();
      const copied = bytes.copy(this.#batch, this.#length, at, end);
      at += copied;
      this.#length += copied;
      if (this.#length === batchBytesMax) this.#full();
    }
    if (this.#length === 0 || this.#isScheduled || this.#isWaiting) return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  /** Writes the current batch, also if the target has not drained. */
  flush(): void {
    const length = this.#length;
    if (length === 0) return;
    const batch = this.#batch!;
    this.#batch = undefined;
    this.#length = 0;
    let bytes = batch.subarray(0, length);
    if (length <= copiedBytesMax) {
      bytes = Buffer.from(bytes);
      keep(batch);
    } else if (this.#target.isFlushed) this.#written.push(batch);
    if (!this.#target.write(bytes)) this.#isWaiting = true;
  }

  #newBatch(): Buffer {
    this.#reuse();
    return unused.pop() ?? Buffer.allocUnsafeSlow(batchBytesMax);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
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
    this.#reuse();
    this.flush();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  /** Keeps the buffers that the target no longer reads. */
  #reuse(): void {
    if (this.#written.length === 0 || !this.#target.isFlushed!()) return;
    for (const buffer of this.#written) keep(buffer);
    this.#written = [];
  }
}

function keep(buffer: Buffer): void {
  if (unused.length < unusedMax) unused.push(buffer);
}
