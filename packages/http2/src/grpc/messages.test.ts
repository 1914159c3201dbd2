import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { MessageReader, bytesField, owned, uintField } from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';

test('numbers of every size come back', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.constantFrom(0, 127, 128, 2 ** 53 - 1)), (value) => {
      const reader = new MessageReader(new MessageWriter(0).uint(15, value).finish());
      assert.equal(reader.tag(), uintField(15));
      assert.equal(reader.uint(), value);
      assert.equal(reader.at, reader.buffer.length);
    }),
  );
});

test('64-bit numbers come back with their sign', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const reader = new MessageReader(new MessageWriter(0).int64(16, value).finish());
      assert.equal(reader.tag(), uintField(16));
      assert.equal(reader.int64(), value);
    }),
  );
});

test('a writer grows as far as it must', () => {
  const value = Buffer.alloc(100_000, 'x');
  const message = new MessageWriter(0).message(1, (inner) => inner.bytes(2, value).string(1, 'ключ')).finish();
  const reader = new MessageReader(message);
  assert.equal(reader.tag(), bytesField(1));
  assert.equal(reader.end(), message.length);
  assert.equal(reader.tag(), bytesField(1));
  assert.equal(reader.string(), 'ключ');
  assert.equal(reader.tag(), bytesField(2));
  assert.ok(value.equals(reader.bytes()));
});

test('unknown fields of every kind are skipped', () => {
  const known = new MessageWriter().uint(3, 42).finish();
  const unknown = Buffer.concat([
    Buffer.from([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), // field 1, a number of ten bytes
    Buffer.from([0x11, 1, 2, 3, 4, 5, 6, 7, 8]), // field 2, eight bytes
    Buffer.from([0x25, 1, 2, 3, 4]), // field 4, four bytes
    Buffer.from([0x2a, 2, 9, 9]), // field 5, two bytes with a length
  ]);
  const reader = new MessageReader(Buffer.concat([unknown, known]));
  for (let field = 0; field < 4; field++) {
    reader.tag();
    reader.skip();
  }
  assert.equal(reader.tag(), uintField(3));
  assert.equal(reader.uint(), 42);
});

test('a message that contradicts itself is malformed, whatever it says', () => {
  const malformed = { code: 'MalformedMessage' };
  assert.throws(() => new MessageReader(Buffer.from([0x80])).uint(), malformed);
  assert.throws(() => new MessageReader(Buffer.alloc(11, 0xff)).uint(), malformed);
  assert.throws(() => new MessageReader(Buffer.alloc(11, 0xff)).int64(), malformed);
  assert.throws(() => new MessageReader(Buffer.from([5, 1, 2])).bytes(), malformed);
  assert.throws(() => new MessageReader(Buffer.from([5, 1, 2])).string(), malformed);
  for (const bytes of [[0x0b], [0x0d, 1], [0x09, 1, 2], [0x08], [0x0a, 200, 1]]) {
    const reader = new MessageReader(Buffer.from(bytes));
    reader.tag();
    assert.throws(() => reader.skip(), malformed, String(bytes));
  }
});

test('a small view of a large buffer is copied, a large one is kept', () => {
  const large = new Uint8Array(10_000);
  const small = large.subarray(10, 20);
  assert.notEqual(owned(small).buffer, large.buffer);
  assert.deepEqual(owned(small), small);
  assert.equal(owned(large.subarray(0, 9_000)).buffer, large.buffer);
});
