import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../contract.ts';
import { storeConformance } from '../../conformance/index.ts';
import { openEmbeddedStore } from './embedded-store.ts';

storeConformance('the embedded driver', {
  async open() {
    const directory = mkdtempSync(join(tmpdir(), 'hangar-embedded-'));
    const open = () => openEmbeddedStore({ directory });
    let store: Store = await open();
    return {
      store,
      prefix: '/registry/',
      async reopen() {
        await store.close();
        return (store = await open());
      },
      async close() {
        await store.close();
        rmSync(directory, { recursive: true });
      },
    };
  },
});
