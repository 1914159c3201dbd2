/**
 * @hangar/backup: the bytes of backups. `format/` is the container, `destinations/` are the places where containers are stored.
 *
 * ```ts
 * const destination = openDestination(folderStorage('/mnt/backups'));
 * await destination.put('demo', writeContainer(exported, { manifest }));
 * const { content } = await destination.get('demo');
 * const { payload } = await readContainer(content);
 * ```
 */

export * from './destinations/index.ts';
export * from './errors.ts';
export { backupKey, isContainer, parseBackupKey, rangeExport, readContainer, writeContainer } from './format/index.ts';
export type {
  BackupKey,
  BackupManifest,
  Compression,
  OpenContainer,
  ReadOptions,
  WriteOptions,
} from './format/index.ts';
