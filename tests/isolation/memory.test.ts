import { openMemoryStore } from '@hangar/store';
import { isolation } from './suite.ts';

isolation('tenants on the memory driver', {
  // The embedded driver and etcd make more runs, with the same seed: `*.real.ts`.
  randomRuns: 8,
  async open() {
    const store = await openMemoryStore();
    return { store, close: () => store.close() };
  },
});
