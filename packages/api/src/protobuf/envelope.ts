/**
 * `application/vnd.kubernetes.protobuf`: four magic bytes, then an envelope with the kind of its message. In a watch every frame is a
 * length and a WatchEvent without the magic bytes; the object inside has them.
 */

import { schemaOf } from '../builtin/schemas.ts';
import type { StructType } from '../builtin/types.ts';
import { ApiError } from '../errors.ts';
import type { LazyList } from '../lazy-list.ts';
import { decodedObjectsMax } from '../limits.ts';
import { readStruct } from './decode.ts';
import type { JsonObject } from './decode.ts';
import { writeStruct } from './encode.ts';
import { innerPlan, planOf } from './plan.ts';
import { malformed, Reader } from './reader.ts';
import { Writer } from './writer.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

const magic = Buffer.from('k8s\0', 'latin1');

let writer = new Writer();

/** One writer serves every encoding, because an encoding is synchronous; a failed one leaves none of its bytes. */
function encode(write: (writer: Writer) => void): Buffer {
  try {
    write(writer);
    return writer.finish();
  } catch (error) {
    writer = new Writer();
    throw error;
  }
}

/** The bare message. Throws InvalidValue, TooDeep, UnknownKind. */
export function encodeMessage(struct: StructType, value: Readonly<JsonObject>): Buffer {
  return encode((to) => writeStruct(to, struct, value));
}

export function decodeMessage(struct: StructType, bytes: Uint8Array): JsonObject {
  const reader = new Reader(bytes, decodedObjectsMax(bytes.length));
  return readStruct(reader, struct, bytes.length);
}

/** Encodes a built-in object with its envelope, by its `apiVersion` and `kind`. Throws InvalidValue, TooDeep, UnknownKind. */
export function encodeProtobuf(object: Readonly<JsonObject>): Buffer {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new ApiError('UnknownKind', 'an object without apiVersion and kind has no protobuf encoding');
  }
  const struct = knownKind(apiVersion, kind);
  return encode((to) => {
    writeEnvelopeEnd(to);
    const before = to.length;
    writeStruct(to, struct, object);
    writeEnvelopeStart(to, { apiVersion, kind, length: to.length - before });
  });
}

/**
 * A list with its envelope, item by item: the work can pause after each empty piece. Its length precedes its items, so the pieces with
 * content come last. Throws InvalidValue, TooDeep, UnknownKind.
 */
export function* protobufListPieces(
  list: Readonly<JsonObject> & { readonly items: LazyList },
): Generator<Uint8Array, void, void> {
  const { apiVersion, kind, items, ...rest } = list;
  const struct = knownKind(apiVersion as string, kind as string);
  const element = planOf(struct).fields.find(({ name }) => name === 'items')!.element!;
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < items.length; at++) {
    const item = items.item(at) as JsonObject;
    yield nothing;
    const message = encodeMessage(innerPlan(element).struct, item);
    pieces.push(
      encode((to) => {
        to.varint(message.length);
        to.varint(element.tag);
      }),
      message,
    );
    yield nothing;
  }
  const head = encodeMessage(struct, rest);
  const length = pieces.reduce((sum, piece) => sum + piece.length, head.length);
  yield encode((to) => writeEnvelopeStart(to, { apiVersion: apiVersion as string, kind: kind as string, length }));
  yield head;
  yield* pieces;
  yield encode(writeEnvelopeEnd);
}

const nothing = new Uint8Array();

/** Written backwards: contentType, contentEncoding. */
function writeEnvelopeEnd(to: Writer): void {
  to.text('');
  to.byte(0x22);
  to.text('');
  to.byte(0x1a);
}

/** Written backwards: the length of raw, typeMeta, magic. */
function writeEnvelopeStart(
  to: Writer,
  { apiVersion, kind, length }: { readonly apiVersion: string; readonly kind: string; readonly length: number },
): void {
  to.varint(length);
  to.byte(0x12);
  const before = to.length;
  to.text(kind);
  to.byte(0x12);
  to.text(apiVersion);
  to.byte(0x0a);
  to.varint(to.length - before);
  to.byte(0x0a);
  to.bytes(magic);
}

function knownKind(apiVersion: string, kind: string): StructType {
  const struct = schemaOf(apiVersion, kind);
  if (!struct) throw new ApiError('UnknownKind', `no kind "${kind}" is registered for version "${apiVersion}"`);
  return struct;
}

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

export const isProtobuf = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73 && bytes[3] === 0;

/** Throws MalformedProtobuf. `raw` is a view on `bytes`. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  const { rawStart, rawEnd, ...rest } = readEnvelope(new Reader(bytes, 0), bytes);
  return { ...rest, raw: bytes.subarray(rawStart, rawEnd) };
}

const notProtobuf = `provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`;

interface EnvelopePlaces extends Omit<Envelope, 'raw'> {
  readonly rawStart: number;
  readonly rawEnd: number;
}

function readEnvelope(reader: Reader, bytes: Uint8Array): EnvelopePlaces {
  if (bytes.length === 0) throw malformed('empty data');
  if (!isProtobuf(bytes)) throw malformed(notProtobuf);
  if (bytes.length === magic.length) throw malformed('empty body');
  const end = bytes.length;
  reader.at = magic.length;
  const found = { apiVersion: '', kind: '', contentEncoding: '', contentType: '', rawStart: 0, rawEnd: 0 };
  while (reader.at < end) {
    const tag = reader.varint(end);
    if (tag === 0x0a) {
      const stop = reader.endOfBytes(end);
      while (reader.at < stop) {
        const inner = reader.varint(stop);
        if (inner === 0x0a) found.apiVersion = reader.text(stop);
        else if (inner === 0x12) found.kind = reader.text(stop);
        else reader.skip(inner, stop);
      }
    } else if (tag === 0x12) {
      found.rawEnd = reader.endOfBytes(end);
      found.rawStart = reader.at;
      reader.at = found.rawEnd;
    } else if (tag === 0x1a) found.contentEncoding = reader.text(end);
    else if (tag === 0x22) found.contentType = reader.text(end);
    else if (tag >>> 3 <= 4) throw malformed(`proto: wrong wireType = ${tag & 7} for the envelope`);
    else reader.skip(tag, end);
  }
  return found;
}

/** The kind of an envelope without kind or version: that of the request's path. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Throws MalformedProtobuf, TooDeep, UnknownKind. */
export function decodeProtobuf(bytes: Uint8Array, expected?: ExpectedKind): JsonObject {
  const reader = new Reader(bytes, decodedObjectsMax(bytes.length));
  const envelope = readEnvelope(reader, bytes);
  const kind = envelope.kind || (expected?.kind ?? '');
  const apiVersion = envelope.apiVersion || (expected?.apiVersion ?? '');
  const struct = knownKind(apiVersion, kind);
  reader.at = envelope.rawStart;
  return readStruct(reader, struct, envelope.rawEnd, { kind, apiVersion });
}

/** Encodes a frame of a watch: four bytes of length, then the event. `object` is an encoded object with its envelope. */
export function encodeWatchFrame(type: string, object: Uint8Array): Buffer {
  return encode((to) => {
    to.bytes(object);
    to.varint(object.length);
    to.byte(0x0a);
    to.varint(to.length);
    to.byte(0x12);
    to.text(type);
    to.byte(0x0a);
    const length = to.length;
    for (let shift = 0; shift < 32; shift += 8) to.byte((length >>> shift) & 0xff);
  });
}

/** A WatchEvent without its length. The object is a view on `bytes`. */
export function decodeWatchEvent(bytes: Uint8Array): { type: string; object: Uint8Array } {
  const reader = new Reader(bytes, 0);
  const end = bytes.length;
  let type = '';
  let object: Uint8Array = new Uint8Array();
  while (reader.at < end) {
    const tag = reader.varint(end);
    if (tag === 0x0a) type = reader.text(end);
    else if (tag === 0x12) {
      const stop = reader.endOfBytes(end);
      while (reader.at < stop) {
        const inner = reader.varint(stop);
        if (inner === 0x0a) object = reader.bytes(stop);
        else reader.skip(inner, stop);
      }
    } else if (tag >>> 3 <= 2) throw malformed(`proto: wrong wireType = ${tag & 7} for a WatchEvent`);
    else reader.skip(tag, end);
  }
  return { type, object };
}
