import assert from 'node:assert/strict';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ExternalSort } from './external-sort.ts';

test('records are sorted by their numbers, and equal numbers stay in order, for any size of runs', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-sort-'));
  context.after(() => rm(folder, { recursive: true }));
  const numbers = fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  // Some records are larger than the block in which a run is read.
  const sizes = fc.oneof({ weight: 9, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.nat(40_000) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(numbers, sizes), { maxLength: 120 }),
      fc.integer({ min: 1, max: 60_000 }),
      async (records, runBytesMax) => {
        const file = await open(join(folder, 'spool'), 'w+');
        try {
          const sort = new ExternalSort(file, { runBytesMax });
          const added = records.map(([number, size], index) => ({ number, bytes: Buffer.alloc(size + 4, index) }));
          for (const [index, { number, bytes }] of added.entries()) {
            bytes.writeUInt32BE(index);
            await sort.add(number, bytes);
          }
          const sorted = [];
          for await (const { number, bytes } of sort.sorted()) sorted.push({ number, bytes: Buffer.from(bytes) });
          assert.deepEqual(
            sorted,
            added.toSorted((a, b) => Number(a.number > b.number) - Number(a.number < b.number)),
          );
        } finally {
          await file.close();
        }
      },
    ),
    { numRuns: 100 },
  );
});
