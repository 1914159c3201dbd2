/**
 * Responses that are encoded in pieces: the event loop is released between them, and only the part of a long response that the client has
 * not yet read is in memory.
 */

import { ApiError, dumpYamlInPieces, encodeProtobuf, jsonPieces, LazyList, notAcceptable } from '@hangar/api';
import { protobufListPieces } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Sink, Streaming } from '../http/message.ts';
import { Output } from '../http/output.ts';
import type { Format } from '../request/media.ts';

/** May be empty: then the work pauses without writing. */
export type Pieces = Generator<Uint8Array, void, void>;

/** A response up to this length has a Content-Length and may be compressed; a longer one is sent while it is encoded. */
const wholeBytesMax = 32 * 1024 * 1024;

/** An object nested a thousand deep is a hundred times as long in YAML as in JSON. */
const yamlLengthMax = 32 * 1024 * 1024;

/** Throws 406 if the YAML would be too long. */
export function* encodedPieces(object: JsonObject, format: Format): Pieces {
  switch (format) {
    case 'json':
      for (const text of jsonPieces(object)) yield text === '' ? nothing : Buffer.from(text);
      yield newline;
      return;
    case 'yaml':
      yield* yamlPieces(object);
      return;
    case 'protobuf': {
      const { items } = object;
      if (items instanceof LazyList) yield* protobufListPieces({ ...object, items });
      else yield encodeProtobuf(object);
    }
  }
}

const newline = Buffer.from('\n');
const nothing = Buffer.alloc(0);

function* yamlPieces(object: JsonObject): Pieces {
  try {
    for (const text of dumpYamlInPieces(object, { lengthMax: yamlLengthMax })) yield Buffer.from(text);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'TooLarge')) throw error;
    throw notAcceptable(`${error.message}; accept application/json instead`);
  }
}

/** Returns the body of a response: all pieces, or a stream if they are long. Rejects if the first piece cannot be encoded. */
export function bodyOf(pieces: Pieces, clock: Clock): Collected | Promise<Collected> {
  const slicer = new Slicer(clock);
  const collected: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return { pieces: collected, rest: undefined };
    if (value.length > 0) collected.push(value);
    length += value.length;
    const paused = slicer.pause();
    if (paused || length > wholeBytesMax)
      return collectedRest(pieces, { slicer, clock }, { collected, length, paused });
  }
}

export interface Collected {
  readonly pieces: readonly Uint8Array[];
  /** Sends the pieces and the rest; undefined: there is no rest. */
  readonly rest: Streaming | undefined;
}

async function collectedRest(
  pieces: Pieces,
  { slicer, clock }: Pick<Sending, 'slicer' | 'clock'>,
  from: { readonly collected: Uint8Array[]; readonly length: number; readonly paused: Promise<void> | undefined },
): Promise<Collected> {
  const { collected } = from;
  let { length, paused } = from;
  while (length <= wholeBytesMax) {
    if (paused) await paused;
    const { done, value } = pieces.next();
    if (done) return { pieces: collected, rest: undefined };
    if (value.length > 0) collected.push(value);
    length += value.length;
    paused = slicer.pause();
  }
  return {
    pieces: collected,
    rest: { isFinite: true, start: (sink) => void send({ collected, pieces, slicer, clock }, sink) },
  };
}

interface Sending {
  /** Emptied while it is sent. */
  readonly collected: Uint8Array[];
  readonly pieces: Pieces;
  readonly slicer: Slicer;
  readonly clock: Clock;
}

async function send({ collected, pieces, slicer, clock }: Sending, sink: Sink): Promise<void> {
  const output = new Output(sink);
  try {
    collected.reverse();
    for (let piece = collected.pop(); piece && !output.isOver; piece = collected.pop()) await output.send(piece, clock);
    slicer.restart();
    while (!output.isOver) {
      const { done, value } = pieces.next();
      if (done) break;
      await output.send(value, clock);
      await slicer.pause();
    }
    sink.end();
  } catch {
    // The status was sent: only an aborted connection shows that the list is incomplete.
    output.abort();
  } finally {
    collected.length = 0;
    pieces.return();
  }
}
