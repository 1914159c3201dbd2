/**
 * Takes gRPC messages out of a byte stream: each has a prefix of one byte (compressed or not) and four (its length),
 * and the pieces that arrive respect neither.
 */

import { grpcStatus, GrpcError } from './status.ts';

const prefixBytes = 5;

/** A message that claims more is refused before it is collected. */
export const messageBytesMax = 64 * 1024 * 1024;

export class MessageAssembler {
  readonly #bytesMax: number;
  /** An incomplete prefix. */
  #prefix: Buffer | undefined;
  /** The incomplete message, filled up to `#filled`. */
  #message: Buffer | undefined;
  #filled = 0;

  constructor(bytesMax = messageBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Nothing of a message is left over. */
  get empty(): boolean {
    return this.#prefix === undefined && this.#message === undefined;
  }

  /** Calls back for each message that is complete now. Throws a GrpcError when one is compressed or too large. */
  push(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    let rest = chunk;
    if (this.#message) rest = this.#fill(rest, onMessage);
    while (rest.length > 0) {
      if (this.#prefix) {
        rest = Buffer.concat([this.#prefix, rest]);
        this.#prefix = undefined;
      }
      if (rest.length < prefixBytes) {
        this.#prefix = Buffer.from(rest);
        return;
      }
      const length = this.#lengthOf(rest);
      const end = prefixBytes + length;
      if (rest.length >= end) {
        onMessage(rest.subarray(prefixBytes, end));
        rest = rest.subarray(end);
      } else {
        this.#message = Buffer.allocUnsafeSlow(length);
        this.#filled = 0;
        rest = this.#fill(rest.subarray(prefixBytes), onMessage);
      }
    }
  }

  #fill(chunk: Buffer, onMessage: (message: Buffer) => void): Buffer {
    const message = this.#message!;
    const taken = Math.min(chunk.length, message.length - this.#filled);
    message.set(taken === chunk.length ? chunk : chunk.subarray(0, taken), this.#filled);
    this.#filled += taken;
    if (this.#filled === message.length) {
      this.#message = undefined;
      onMessage(message);
    }
    return chunk.subarray(taken);
  }

  #lengthOf(prefix: Buffer): number {
    if (prefix[0] !== 0) {
      throw new GrpcError(grpcStatus.internal, 'received a compressed message although no compression was negotiated', {
        fate: 'lost',
      });
    }
    const length = prefix.readUInt32BE(1);
    if (length > this.#bytesMax) {
      const message = `received a message of ${length} bytes, which exceeds the limit of ${this.#bytesMax}`;
      throw new GrpcError(grpcStatus.resourceExhausted, message, { fate: 'lost' });
    }
    return length;
  }
}
