import { openMemoryStore } from '@hangar/store';
import { isolation } from './suite.ts';

isolation('tenants on the memory driver', {
  async open() {
    const store = await openMemoryStore();
    return { store, close: () => store.close() };
  },
});
