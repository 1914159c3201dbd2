/** Places for backups: folders and S3 buckets, with one layout. */

export { openDestination } from './destination.ts';
export type { BackupDestination, DestinationOptions, ListOptions, PutOptions, StoredBackup } from './destination.ts';
export { folderStorage } from './folder/folder-storage.ts';
export type { CallOptions, ObjectStorage, StoredObject, UploadOptions } from './object-storage.ts';
export type { BackupRecord } from './record.ts';
export { isS3Address, parseS3Address, s3Environment } from './s3/s3-address.ts';
export type { S3Address, S3Environment } from './s3/s3-address.ts';
export { s3Storage } from './s3/s3-storage.ts';
export type { S3StorageOptions } from './s3/s3-storage.ts';
export type { S3Credentials } from './s3/sign.ts';
