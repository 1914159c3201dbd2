/** Encodes HTTP/2 frames (RFC 9113, section 4.1) that no client may send. */

import { pick } from '@hangar/core';
import type { Random } from '@hangar/core';

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  unknown: 0x4f,
} as const;

const endStream = 0x1;
const endHeaders = 0x4;

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
  length = payload.length,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** HPACK: `:method GET`, `:scheme https`, `:path /`, from the static table. */
const getRoot = Buffer.from([0x82, 0x87, 0x84]);
const postRoot = Buffer.from([0x83, 0x87, 0x84]);
const settings = (id: number, value: number): Buffer => {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(id, 0);
  payload.writeUInt32BE(value, 2);
  return payload;
};
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const { data, headers, priority, reset, push, ping, goAway, windowUpdate, continuation, unknown } = frameTypes;
const text = Buffer.from('{}');

export const hostileFrames: readonly ((random: Random) => Buffer)[] = [
  // Data after END_STREAM, and on idle streams.
  () => Buffer.concat([frame(headers, endHeaders | endStream, 1, getRoot), frame(data, 0, 1, text)]),
  () =>
    Buffer.concat([
      frame(headers, endHeaders, 1, postRoot),
      frame(data, endStream, 1, text),
      frame(data, endStream, 1, text),
    ]),
  () => frame(data, 0, 7, text),
  () => frame(data, 0, 0, text),
  // Even, decreasing and repeated stream numbers.
  () => frame(headers, endHeaders | endStream, 2, getRoot),
  () =>
    Buffer.concat([
      frame(headers, endHeaders | endStream, 9, getRoot),
      frame(headers, endHeaders | endStream, 3, getRoot),
    ]),
  // Invalid, incomplete and endless header blocks.
  () => frame(headers, endHeaders | endStream, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])),
  () => frame(headers, endHeaders | endStream, 1, Buffer.from([0x82, 0x82, 0x87])),
  () => frame(headers, endHeaders | endStream, 1),
  () => Buffer.concat([frame(headers, 0, 1, getRoot), frame(ping, 0, 0, Buffer.alloc(8))]),
  () =>
    Buffer.concat([
      frame(headers, 0, 1, getRoot),
      ...Array.from({ length: 300 }, () => frame(continuation, 0, 1, Buffer.from([0x82]))),
    ]),
  () => frame(continuation, endHeaders, 1, getRoot),
  // Wrong lengths.
  (random) => frame(pick(random, [data, headers, ping, reset]), 0, 1, text, 0xffffff),
  (random) => frame(pick(random, [ping, reset, windowUpdate, priority]), 0, 1, random.bytes(3)),
  // Zero and overflowing window updates; invalid settings.
  () => frame(windowUpdate, 0, 0, uint32(0)),
  () => Buffer.concat(Array.from({ length: 3 }, () => frame(windowUpdate, 0, 0, uint32(0x7fffffff)))),
  (random) =>
    frame(
      frameTypes.settings,
      0,
      0,
      settings(pick(random, [1, 2, 3, 4, 5, 6, 99]), pick(random, [0, 1, 0x7fffffff, 0xffffffff])),
    ),
  () => frame(frameTypes.settings, 0x1, 0, Buffer.alloc(6)),
  () => Buffer.concat(Array.from({ length: 200 }, () => frame(frameTypes.settings, 0, 0))),
  () => Buffer.concat(Array.from({ length: 500 }, () => frame(ping, 0, 0, Buffer.alloc(8)))),
  () =>
    Buffer.concat(
      Array.from({ length: 200 }, (_, at) =>
        Buffer.concat([
          frame(headers, endHeaders | endStream, 1 + 2 * at, getRoot),
          frame(reset, 0, 1 + 2 * at, uint32(8)),
        ]),
      ),
    ),
  () => Buffer.concat(Array.from({ length: 300 }, () => frame(data, 0, 1))),
  () => frame(push, endHeaders, 1, Buffer.concat([uint32(2), getRoot])),
  () => frame(goAway, 0, 0, Buffer.alloc(8)),
  () => frame(reset, 0, 0, uint32(0)),
  () => frame(unknown, 0xff, 0xffffffff, text),
  (random) => Buffer.from(random.bytes(100)),
];
