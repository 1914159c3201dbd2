import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openEmbeddedStore } from './embedded-store.ts';

test('what is stored is readable by its owner only, whatever the directory allows', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'hangar-modes-'));
  chmodSync(directory, 0o755);
  const store = await openEmbeddedStore({ directory });
  try {
    await store.commit([{ type: 'put', key: '/secrets/a', value: new TextEncoder().encode('secret') }]);
    for (const name of ['store.db', 'store.db-wal', 'store.db-shm', 'acknowledged']) {
      assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
    }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});
