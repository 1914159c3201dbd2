/**
 * Frames of a stream of bytes that can be written and read in any chunks. Used by exported ranges and by replication.
 *
 *     length u32 · kind u8 · body
 */

import { ChunkReader } from '@hangar/core';
import { StoreError } from '../errors.ts';

const headerBytes = 5;

export interface Frame {
  readonly kind: number;
  readonly body: Buffer;
}

export function frame(kind: number, body: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(headerBytes + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes[4] = kind;
  bytes.set(body, headerBytes);
  return bytes;
}

/** Reads frames. Rejects with `ImportFailed` if the stream is truncated, or claims a body above `bodyBytesMax`, which is not buffered. */
export class FrameInput {
  readonly #reader: ChunkReader;
  readonly #bodyBytesMax: number;

  constructor(chunks: AsyncIterable<Uint8Array>, bodyBytesMax: number) {
    this.#reader = new ChunkReader(chunks);
    this.#bodyBytesMax = bodyBytesMax;
  }

  async startsWith(magic: Uint8Array): Promise<boolean> {
    return (await this.#take(magic.length)).equals(magic);
  }

  async frame(): Promise<Frame> {
    const header = await this.#take(headerBytes);
    const length = header.readUInt32LE(0);
    if (length > this.#bodyBytesMax) throw failed(`a frame of ${length} bytes is too long`);
    return { kind: header[4]!, body: await this.#take(length) };
  }

  ended(): Promise<boolean> {
    return this.#reader.isEmpty();
  }

  /** Stops reading: the source releases its file or connection. */
  close(): Promise<void> {
    return this.#reader.close();
  }

  async #take(length: number): Promise<Buffer> {
    const taken = await this.#reader.take(length);
    if (!taken) throw failed('it is truncated');
    return taken;
  }
}

export function failed(problem: string, options?: ErrorOptions): StoreError {
  return new StoreError('ImportFailed', `the stream cannot be imported: ${problem}`, options);
}
