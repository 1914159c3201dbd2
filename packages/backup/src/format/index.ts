/** Container format of backups: a stream of any payload with a header, compression, optional encryption, and checksums. */

export { isObject, rangeExport } from './header.ts';
export type { BackupManifest, Compression } from './header.ts';
export { backupKey, parseBackupKey } from './key.ts';
export type { BackupKey } from './key.ts';
export { isContainer, readContainer } from './read.ts';
export type { OpenContainer, ReadOptions } from './read.ts';
export { writeContainer } from './write.ts';
export type { WriteOptions } from './write.ts';
