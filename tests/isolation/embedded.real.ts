import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '@hangar/store';
import { isolation } from './suite.ts';

isolation('tenants on the embedded driver', {
  async open() {
    const directory = mkdtempSync(join(tmpdir(), 'hangar-isolation-'));
    const store = await openEmbeddedStore({ directory });
    return {
      store,
      async close() {
        await store.close();
        rmSync(directory, { recursive: true });
      },
    };
  },
});
