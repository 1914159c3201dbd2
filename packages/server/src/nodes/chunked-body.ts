/** Decodes the chunked transfer coding (RFC 9112, 7.1) of a direct connection. A kubelet sends every line of a followed log as a chunk. */

import { CodedError } from '@hangar/core';
import { BatchWriter } from '../http/batch-writer.ts';
import type { Sink } from '../http/message.ts';
import type { DirectConnection } from '../outbound/direct-connection.ts';

/** Writes the body to a client, as `pass` does. */
export function passChunked(connection: DirectConnection, sink: Sink): void {
  let isWhole = false;
  const writer = new BatchWriter(sink, connection.socket);
  const decoder = new ChunkDecoder((bytes, start, end) => writer.append(bytes, start, end));
  const closed = (): void => {
    writer.flush();
    if (isWhole) sink.end();
    else (sink.abort ?? sink.end).call(sink);
  };
  sink.onClose(() => connection.destroy());
  if (connection.socket.destroyed) return closed();
  connection.socket.once('close', closed);
  connection.receive({
    data(bytes) {
      isWhole ||= decoder.push(bytes);
      if (isWhole) connection.destroy();
    },
    end: () => connection.destroy(),
  });
}

export class ChunkError extends CodedError<'ProtocolError'> {}

const [carriageReturn, lineFeed, semicolon] = [13, 10, 59];
/** More digits would not be an exact number. */
const digitsMax = 12;
/** Limit of the extension of a chunk, and of all trailers. */
const ignoredBytesMax = 16 * 1024;

type State = 'size' | 'extension' | 'size-end' | 'data' | 'data-end' | 'chunk-end' | 'trailer';

export class ChunkDecoder {
  readonly #data: (bytes: Buffer, start: number, end: number) => void;
  #state: State = 'size';
  /** Size of the current chunk, then the number of its bytes that were not read yet. */
  #left = 0;
  #digits = 0;
  #ignored = 0;
  /** Length of the current line of the trailers. */
  #lineLength = 0;

  constructor(data: (bytes: Buffer, start: number, end: number) => void) {
    this.#data = data;
  }

  /** Returns whether the body is complete. Bytes after it are ignored. Throws a ChunkError. */
  push(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length;) {
      if (this.#state === 'data') {
        const end = Math.min(at + this.#left, bytes.length);
        this.#data(bytes, at, end);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'data-end';
      } else if (this.#read(bytes[at++]!)) return true;
    }
    return false;
  }

  /** Reads a byte outside of data. Returns whether it is the last one of the body. */
  #read(byte: number): boolean {
    switch (this.#state) {
      case 'size':
        this.#readSize(byte);
        break;
      case 'extension':
        this.#ignore();
        if (byte === carriageReturn) this.#state = 'size-end';
        break;
      case 'size-end':
        this.#expect(lineFeed, byte);
        this.#state = this.#left === 0 ? 'trailer' : 'data';
        this.#digits = 0;
        this.#ignored = 0;
        break;
      case 'data-end':
        this.#expect(carriageReturn, byte);
        this.#state = 'chunk-end';
        break;
      case 'chunk-end':
        this.#expect(lineFeed, byte);
        this.#state = 'size';
        break;
      default:
        return this.#readTrailer(byte);
    }
    return false;
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0 && this.#digits++ < digitsMax) this.#left = this.#left * 16 + digit;
    else if (digit >= 0 || this.#digits === 0) throw malformed();
    else if (byte === semicolon) this.#state = 'extension';
    else {
      this.#expect(carriageReturn, byte);
      this.#state = 'size-end';
    }
  }

  /** An empty line ends the body. */
  #readTrailer(byte: number): boolean {
    this.#ignore();
    if (byte === lineFeed) {
      if (this.#lineLength === 0) return true;
      this.#lineLength = 0;
    } else if (byte !== carriageReturn) this.#lineLength++;
    return false;
  }

  #expect(expected: number, byte: number): void {
    if (byte !== expected) throw malformed();
  }

  #ignore(): void {
    if (++this.#ignored > ignoredBytesMax) throw malformed();
  }
}

const malformed = (): ChunkError => new ChunkError('ProtocolError', 'malformed chunked encoding');

/** Returns -1 for other characters. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
