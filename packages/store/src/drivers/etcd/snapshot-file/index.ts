/** Snapshots of etcd as files: verification, revision and digest of the content; and files from the content of another store. */

export { ContentDigest, isVolatile } from './content-digest.ts';
export type { ContentSummary } from './content-digest.ts';
export { readDatabaseFile, readSnapshotFile } from './snapshot-file.ts';
export type { ReadSnapshotOptions, SnapshotFileSummary } from './snapshot-file.ts';
export { writeSnapshotFile } from './snapshot-writer.ts';
export type { WriteSnapshotOptions, WrittenSnapshot } from './snapshot-writer.ts';
