/** Snapshots of etcd as files: verification, revision and digest of the content. */

export { ContentDigest, isVolatile } from './content-digest.ts';
export type { ContentSummary } from './content-digest.ts';
export { readDatabaseFile, readSnapshotFile } from './snapshot-file.ts';
export type { ReadSnapshotOptions, SnapshotFileSummary } from './snapshot-file.ts';
