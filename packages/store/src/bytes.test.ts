import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { ByteReader, ByteWriter } from './bytes.ts';

type Item = { uint: number } | { string: string } | { bytes: Uint8Array };

const uint = fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.constantFrom(0, 127, 128, 2 ** 32, 2 ** 53 - 1));
const item: fc.Arbitrary<Item> = fc.oneof(
  uint.map((uint) => ({ uint })),
  fc.string({ unit: 'binary' }).map((string) => ({ string })),
  fc.uint8Array({ maxLength: 10_000 }).map((bytes) => ({ bytes })),
);

function write(items: readonly Item[]): Uint8Array {
  const out = new ByteWriter();
  for (const item of items) {
    if ('uint' in item) out.uint(item.uint);
    else if ('string' in item) out.string(item.string);
    else out.bytes(item.bytes);
  }
  const written = out.finish();
  assert.equal(written.length, out.length);
  return written;
}

function read(bytes: Uint8Array, kinds: readonly Item[]): Item[] {
  const from = new ByteReader(bytes);
  const items = kinds.map((kind): Item => {
    if ('uint' in kind) return { uint: from.uint() };
    return 'string' in kind ? { string: from.string() } : { bytes: from.bytes() };
  });
  assert.ok(from.done);
  return items;
}

describe('the binary notation', () => {
  test('reads back whatever was written, in order', () => {
    fc.assert(fc.property(fc.array(item), (items) => assert.deepEqual(read(write(items), items), items)));
  });

  test('reads from the middle of a larger buffer', () => {
    const written = write([{ string: 'ключ' }, { uint: 300 }]);
    const larger = Buffer.concat([Buffer.from('before'), written, Buffer.from('after')]);
    const from = new ByteReader(larger.subarray(6, 6 + written.length));
    assert.deepEqual([from.string(), from.uint(), from.done], ['ключ', 300, true]);
  });

  test('gives out bytes that are not part of its input', () => {
    const written = Buffer.from(write([{ bytes: new Uint8Array([1, 2, 3]) }]));
    const bytes = new ByteReader(written).bytes();
    written.fill(0);
    assert.deepEqual(bytes, new Uint8Array([1, 2, 3]));
  });

  test('is StorageDamaged when it is cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), fc.nat(), (items, cut) => {
        const written = write(items);
        const length = cut % written.length;
        assert.throws(() => read(written.subarray(0, length), items), { code: 'StorageDamaged' });
      }),
    );
  });

  test('is StorageDamaged when a number never ends', () => {
    assert.throws(() => new ByteReader(new Uint8Array(20).fill(0xff)).uint(), { code: 'StorageDamaged' });
  });

  test('grows far beyond its first buffer', () => {
    const large = new Uint8Array(3_000_000).map((_, at) => at);
    const items = [{ uint: 1 }, { bytes: large }, { string: 'end' }];
    assert.deepEqual(read(write(items), items), items);
  });
});
