/**
 * store: a durable MVCC key-value store with etcd's semantics. Read `contract.ts` first, then a driver: `drivers/memory` (tests,
 * simulation), `drivers/embedded` (the default), `drivers/etcd` (production; loaded only through the separate entry point
 * `@hangar/store/etcd`). The store handles bytes, keys, revisions and leases, never kinds.
 */

export type * from './contract.ts';
export { absent } from './contract.ts';
export { CompactedError, StoreError } from './errors.ts';
export type { StoreErrorCode } from './errors.ts';
export { compareKeys, everything, inRange, prefixRange, successor } from './keys.ts';
export { SortedMap } from './engine/sorted-map.ts';
export { transactionWritesMax, valueBytesMax } from './limits.ts';
export { openMemoryStore } from './drivers/memory/memory-store.ts';
export type { MemoryStoreOptions } from './drivers/memory/memory-store.ts';
export { BaseLayer } from './layered/base-layer.ts';
export type { Base, BaseEntry } from './layered/base-layer.ts';
export type { Fence } from './layered/fence.ts';
export { hiddenName } from './layered/layout.ts';
export { layeredStore } from './layered/layered-store.ts';
export type { LayeredStoreOptions } from './layered/layered-store.ts';
export { openEmbeddedStore } from './drivers/embedded/embedded-store.ts';
export type { EmbeddedStoreOptions } from './drivers/embedded/embedded-store.ts';
export { readTransfer } from './transfer/format.ts';
export type { Transfer, TransferEntry } from './transfer/format.ts';
export { entriesIn, exportRange, importRange } from './transfer/transfer.ts';
export type { ExportOptions, ImportOptions, ImportResult } from './transfer/transfer.ts';
export type * from './replication/frames.ts';
export { decodeFrames, encodeFrames, encodeRequest } from './replication/format.ts';
export { replicaDigest } from './replication/digest.ts';
export type { ReplicaDigestOptions } from './replication/digest.ts';
export { ReplicaWriter } from './replication/writer.ts';
export type { ReplicaWriterOptions } from './replication/writer.ts';
export type { ReplicaPosition } from './replication/position.ts';
export { replicaFrames } from './replication/source.ts';
export type { ReplicaSourceOptions } from './replication/source.ts';
