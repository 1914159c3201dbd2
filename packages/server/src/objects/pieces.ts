/**
 * Answers that are made in pieces: the event loop is released between them, and no more of a long answer is in memory than
 * the client has not yet taken.
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

/** An answer up to this length has a Content-Length and may be compressed; a longer one is sent while it is made. */
const wholeBytesMax = 32 * 1024 * 1024;

/** An object nested a thousand deep is a hundred times as long in YAML as in JSON. */
const yamlLengthMax = 32 * 1024 * 1024;

/** Throws 406 for what is too long in YAML. */
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

/** Returns the body of an answer: all pieces, or a stream when they are long. Rejects when the first piece cannot be made. */
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
  /** Sends the pieces and what follows them; undefined: nothing does. */
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
    // The status was sent: a broken connection is the only way to tell that this is not the whole list.
    output.abort();
  } finally {
    collected.length = 0;
    pieces.return();
  }
}
