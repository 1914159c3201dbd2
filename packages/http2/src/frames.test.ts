import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ConnectionError } from './errors.ts';
import { FrameReader, frame } from './frames.ts';

interface Seen {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: string;
}

function read(chunks: readonly Buffer[]): Seen[] {
  const seen: Seen[] = [];
  const reader = new FrameReader((type, flags, streamId, bytes, start, end) => {
    seen.push({ type, flags, streamId, payload: bytes.toString('hex', start, end) });
  });
  for (const chunk of chunks) reader.feed(chunk);
  assert.equal(reader.partialType, undefined);
  return seen;
}

const bytes = Buffer.concat([
  frame(0, 1, 1, Buffer.from('hello')),
  frame(4, 0, 0, Buffer.alloc(0)),
  frame(255, 255, 2 ** 31 - 1, Buffer.alloc(300, 7)),
  frame(6, 0, 0, Buffer.alloc(8, 1)),
]);
const whole = read([bytes]);

test('frames come out as they went in', () => {
  assert.deepEqual(
    whole.map(({ type, flags, streamId, payload }) => [type, flags, streamId, payload.length / 2]),
    [
      [0, 1, 1, 5],
      [4, 0, 0, 0],
      [255, 255, 2 ** 31 - 1, 300],
      [6, 0, 0, 8],
    ],
  );
});

test('frames may be split at every byte, and at every two', () => {
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)]), whole, `split at ${at}`);
  }
  assert.deepEqual(read(Array.from(bytes, (byte) => Buffer.from([byte]))), whole);
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 8 });
  fc.assert(
    fc.property(cuts, (given) => {
      const at = [0, ...given.sort((a, b) => a - b), bytes.length];
      assert.deepEqual(read(at.slice(1).map((end, i) => bytes.subarray(at[i], end))), whole);
    }),
  );
});

test('the reserved bit of a stream’s number is ignored', () => {
  const reserved = frame(0, 0, 5, Buffer.alloc(0));
  reserved[5]! |= 0x80;
  assert.equal(read([reserved])[0]!.streamId, 5);
});

test('a frame that is too large is refused by its head, before it is here', () => {
  const head = frame(0, 0, 1, Buffer.alloc(16_385)).subarray(0, 9);
  for (const chunks of [[head], Array.from(head, (byte) => Buffer.from([byte]))]) {
    assert.throws(
      () => read(chunks),
      (error) => error instanceof ConnectionError && error.code === 6,
    );
  }
});

test('a frame under way says what it is as soon as that is known', () => {
  const reader = new FrameReader(() => {});
  const ping = frame(6, 0, 0, Buffer.alloc(8));
  assert.equal(reader.partialType, undefined);
  reader.feed(ping.subarray(0, 8));
  assert.equal(reader.partialType, -1);
  reader.feed(ping.subarray(8, 9));
  assert.equal(reader.partialType, 6);
  reader.feed(ping.subarray(9));
  assert.equal(reader.partialType, undefined);
});
