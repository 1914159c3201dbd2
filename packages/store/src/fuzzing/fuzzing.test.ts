import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import * as journal from '../drivers/memory/journal.fuzz.ts';
import * as memoryStore from '../drivers/memory/memory-store.fuzz.ts';
import * as snapshotFile from '../drivers/etcd/snapshot-file/snapshot-file.fuzz.ts';
import * as replication from '../replication/format.fuzz.ts';
import * as transfer from '../transfer/transfer.fuzz.ts';

// A short run of `npm run fuzz`, so that a target that fails at once is found without a full run.
for (const [name, { fuzz }] of Object.entries({ journal, memoryStore, snapshotFile, replication, transfer })) {
  test(`the fuzz target ${name} finds nothing in 300 runs`, async () => {
    for (let seed = 0; seed < 300; seed++) await fuzz(seededRandom(seed));
  });
}
