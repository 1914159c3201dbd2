/** The same thing with something changed: how a bug is planted from outside. */

import type { Disk, DiskFile } from '@hangar/core';
import type { Store, Watch, WatchBatch } from '../../contract.ts';

export function alteredStore(store: Store, changes: Partial<Store>): Store {
  return {
    revision: () => store.revision(),
    get: (key, options) => store.get(key, options),
    range: (range, options) => store.range(range, options),
    statistics: (range, options) => store.statistics(range, options),
    commit: (writes) => store.commit(writes),
    watch: (options) => store.watch(options),
    compact: (revision) => store.compact(revision),
    grantLease: (ttlMs) => store.grantLease(ttlMs),
    renewLease: (id) => store.renewLease(id),
    leaseTtlMs: (id) => store.leaseTtlMs(id),
    revokeLease: (id) => store.revokeLease(id),
    close: () => store.close(),
    ...changes,
  };
}

export function alteredWatch(watch: Watch, changes: Partial<Pick<Watch, 'next' | 'requestProgress'>>): Watch {
  const next = changes.next ?? (() => watch.next());
  let closed = false;
  const altered: Watch = {
    next: () => (closed ? Promise.resolve(undefined) : next()),
    requestProgress: changes.requestProgress ?? (() => watch.requestProgress()),
    close() {
      closed = true;
      watch.close();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
      for (let batch = await altered.next(); batch; batch = await altered.next()) yield batch;
    },
  };
  return altered;
}

export function alteredDisk(disk: Disk, changes: { file?(file: DiskFile): Partial<DiskFile> } & Partial<Disk>): Disk {
  const { file: alter, ...calls } = changes;
  return {
    open: async (path, options) => {
      const file = await disk.open(path, options);
      return alter ? { ...file, ...alter(file) } : file;
    },
    list: (directory) => disk.list(directory),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    syncDirectory: (directory) => disk.syncDirectory(directory),
    ...calls,
  };
}
