import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { seededRandom } from '@hangar/core';
import { collected, inPieces, manifest, testKey } from '../testing/streams.ts';
import { decodeHeader, encodeHeader, magic } from './header.ts';
import { backupKey, parseBackupKey } from './key.ts';
import { isContainer, readContainer } from './read.ts';
import { writeContainer } from './write.ts';
import type { WriteOptions } from './write.ts';

type Options = Partial<WriteOptions>;

const written = (payload: Uint8Array, options: Options = {}): Promise<Buffer> =>
  collected(writeContainer(inPieces(payload, 1_000), { manifest, random: seededRandom(1), ...options }));

async function read(container: Uint8Array, key?: WriteOptions['key'], pieceBytes = 777): Promise<Buffer> {
  const { payload } = await readContainer(inPieces(container, pieceBytes), { key });
  return collected(payload);
}

/** The start of each frame, and the end of the last one. */
function frameBounds(container: Buffer): number[] {
  const bounds: number[] = [];
  let at = magic.length + 4 + container.readUInt32LE(magic.length) + 32;
  for (; at < container.length; at += 5 + container.readUInt32LE(at + 1) + 16) bounds.push(at);
  return [...bounds, at];
}

const ways: readonly (readonly [string, Options])[] = [
  ['plain', { compression: 'none' }],
  ['compressed', {}],
  ['encrypted', { compression: 'none', key: testKey }],
  ['compressed and encrypted', { key: testKey }],
];

for (const [name, options] of ways) {
  describe(`a ${name} container`, () => {
    const payload = Buffer.from(seededRandom(7).bytes(3_500));

    test('returns any payload that was written, in pieces of any size', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 5_000 }),
          fc.integer({ min: 1, max: 2_000 }),
          fc.integer({ min: 1, max: 6_000 }),
          async (bytes, chunkBytes, pieceBytes) => {
            const container = await written(bytes, { ...options, chunkBytes });
            assert.ok(isContainer(container));
            assert.ok((await read(container, options.key, pieceBytes)).equals(bytes));
          },
        ),
        { numRuns: 50 },
      );
    });

    test('is refused with any byte changed', async () => {
      const container = await written(payload.subarray(0, 300), { ...options, chunkBytes: 100 });
      for (let at = 0; at < container.length; at++) {
        const damaged = Buffer.from(container);
        damaged[at]! ^= 0x20;
        await assert.rejects(read(damaged, options.key), ({ code }: { code: string }) =>
          ['NotABackup', 'UnsupportedVersion', 'Truncated', 'Corrupted', 'WrongKey'].includes(code),
        );
      }
    });

    test('is refused when it is cut anywhere, also between chunks', async () => {
      const container = await written(payload.subarray(0, 300), { ...options, chunkBytes: 100 });
      for (let length = 0; length < container.length; length++) {
        const code = length < magic.length ? 'NotABackup' : 'Truncated';
        await assert.rejects(read(container.subarray(0, length), options.key), { code });
      }
      await assert.rejects(read(Buffer.concat([container, Buffer.from('x')]), options.key), { code: 'Corrupted' });
    });

    test('is refused when chunks are moved, repeated, removed or come from another backup', async () => {
      const random = seededRandom(3);
      const make = () => written(payload, { ...options, random, chunkBytes: 1_000 });
      const [container, other] = [await make(), await make()];
      const bounds = frameBounds(container);
      assert.equal(bounds.length, 6, 'four chunks and the trailer');
      const head = container.subarray(0, bounds[0]);
      const frames = bounds.slice(1).map((end, at) => container.subarray(bounds[at], end));
      const otherBounds = frameBounds(other);
      const foreign = other.subarray(otherBounds[1]!, otherBounds[2]!);
      const [first, second, third, fourth, trailer] = frames as [Buffer, Buffer, Buffer, Buffer, Buffer];
      for (const changed of [
        [second, first, third, fourth, trailer],
        [first, first, second, third, fourth, trailer],
        [first, second, third, trailer],
        [first, foreign, third, fourth, trailer],
        [trailer],
      ]) {
        await assert.rejects(read(Buffer.concat([head, ...changed]), options.key), { code: 'Corrupted' });
      }
      assert.ok((await read(Buffer.concat([head, ...frames]), options.key)).equals(payload));
    });
  });
}

describe('a container', () => {
  test('has a manifest that is readable before the payload', async () => {
    const opened = await readContainer(inPieces(await written(Buffer.from('x'), { key: testKey })), { key: testKey });
    assert.deepEqual(opened.manifest, manifest);
    assert.equal(opened.isEncrypted, true);
    await opened.payload.return();
  });

  test('is smaller than a payload that repeats itself, and hardly larger than a random one', async () => {
    assert.ok((await written(Buffer.alloc(100_000, 'repeat'))).length < 2_000);
    const random = Buffer.from(seededRandom(5).bytes(100_000));
    assert.ok((await written(random)).length < random.length + 1_000);
  });

  test('compresses again after chunks that do not become smaller', async () => {
    const random = Buffer.from(seededRandom(5).bytes(1_000));
    const mixed = Buffer.concat([random, Buffer.alloc(40_000, 'repeat')]);
    const container = await written(mixed, { chunkBytes: 1_000 });
    assert.ok(container.length < 15_000, String(container.length));
    assert.ok((await read(container)).equals(mixed));
  });

  test('encrypts: the payload is not in it, and two containers of one payload differ', async () => {
    const payload = Buffer.from('a secret that must not be in the file');
    const random = seededRandom(9);
    const options = { key: testKey, compression: 'none', random } as const;
    const [one, two] = [await written(payload, options), await written(payload, options)];
    assert.ok(!one.includes('a secret'));
    assert.ok(!one.subarray(-60).equals(two.subarray(-60)));
  });

  test('requires the right key, and refuses a key that it does not need', async () => {
    const encrypted = await written(Buffer.from('x'), { key: testKey });
    await assert.rejects(read(encrypted), { code: 'KeyRequired', message: new RegExp(testKey.id) });
    const other = backupKey(Buffer.alloc(32, 9));
    await assert.rejects(read(encrypted, other), { code: 'WrongKey', message: new RegExp(other.id) });
    await assert.rejects(read(encrypted, { ...other, id: testKey.id }), { code: 'WrongKey' });
    // An attacker who can write to the destination must not be able to replace an encrypted backup.
    await assert.rejects(read(await written(Buffer.from('x')), testKey), { code: 'NotEncrypted' });
  });

  test('of a later version is refused by name', async () => {
    const later = Buffer.from(await written(Buffer.from('x')));
    later.write('2', magic.length - 2);
    await assert.rejects(read(later), { code: 'UnsupportedVersion', message: /"HANGAR-BACKUP-2\\n"/ });
    const header = { id: '0'.repeat(32), manifest, compression: 'zstd' } as const;
    const text = encodeHeader(header).toString();
    assert.deepEqual(decodeHeader(Buffer.from(text)), header);
    for (const [from, to, code] of [
      ['"format":1', '"format":2', 'UnsupportedVersion'],
      ['"zstd"', '"lzma"', 'UnsupportedVersion'],
      ['"id":"0', '"id":"G', 'Corrupted'],
      ['"versions":{', '"versions":{"x":1,', 'Corrupted'],
      ['"createdAt":"', '"createdAt":"x', 'Corrupted'],
      ['"mode":', '"made":', 'Corrupted'],
      ['{', '[', 'Corrupted'],
    ] as const) {
      assert.ok(text.includes(from));
      assert.throws(() => decodeHeader(Buffer.from(text.replace(from, to))), { code }, to);
    }
  });

  test('has no trailer when its payload fails', async () => {
    const fails = async function* (): AsyncGenerator<Uint8Array, void, void> {
      yield Buffer.from('some');
      throw new Error('the export failed');
    };
    const seen: Uint8Array[] = [];
    await assert.rejects(async () => {
      for await (const piece of writeContainer(fails(), { manifest, chunkBytes: 2 })) seen.push(piece);
    }, /the export failed/);
    await assert.rejects(read(Buffer.concat(seen)), { code: 'Truncated' });
  });

  test('releases its source when the reader stops or refuses', async () => {
    const container = await written(Buffer.alloc(5_000));
    for (const [bytes, stop] of [
      [container, 'after a chunk'],
      [container, 'before the first chunk'],
      [Buffer.from('something else entirely'), undefined],
    ] as const) {
      let isReleased = false;
      const source = (async function* (): AsyncGenerator<Uint8Array, void, void> {
        try {
          yield* inPieces(bytes, 16);
        } finally {
          isReleased = true;
        }
      })();
      if (stop === 'after a chunk') for await (const _ of (await readContainer(source)).payload) break;
      else if (stop) await (await readContainer(source)).payload.return();
      else await assert.rejects(readContainer(source), { code: 'NotABackup' });
      assert.ok(isReleased, stop ?? 'refused');
    }
  });
});

describe('a key', () => {
  test('is 32 bytes in base64 or hexadecimal notation', () => {
    const bytes = Buffer.alloc(32, 0xa5);
    for (const text of [bytes.toString('base64'), `${bytes.toString('hex')}\n`, bytes.toString('base64url')]) {
      assert.ok(Buffer.from(parseBackupKey(text).bytes).equals(bytes));
    }
    for (const text of ['', 'short', 'ü'.repeat(40), bytes.toString('hex').slice(2), 'a b'.repeat(15)]) {
      assert.throws(() => parseBackupKey(text), { code: 'InvalidKey', message: /openssl rand/ });
    }
  });
});
