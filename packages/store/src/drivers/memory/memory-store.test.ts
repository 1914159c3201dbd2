/** The memory driver under the conformance suite. Its own promises are tested in the files beside this one. */

import { seededRandom, systemClock } from '@hangar/core';
import { VirtualDisk } from '@hangar/core/simulation';
import { storeConformance } from '../../conformance/index.ts';
import { openMemoryStore } from './memory-store.ts';

let tests = 0;

storeConformance('the memory driver', {
  async open() {
    const disk = new VirtualDisk({ clock: systemClock, random: seededRandom(++tests), latencyMaxMs: 0 });
    let store = await openMemoryStore({ disk });
    return {
      store,
      prefix: `/conformance/${tests}/`,
      async reopen() {
        await store.close();
        return (store = await openMemoryStore({ disk }));
      },
      close: () => store.close(),
    };
  },
});
