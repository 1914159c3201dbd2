/** The header of a backup: what it contains, and how its chunks are stored. It is readable without a key. */

import { createHash } from 'node:crypto';
import { BackupError } from '../errors.ts';
import { wrappedKeyBytes } from './key.ts';

/** Description of a backup by the program that makes it. Readable without the key, so it must not contain secrets. */
export interface BackupManifest {
  /** Format of the payload: `range-export` is the export of a virtual control plane. */
  readonly payload: string;
  readonly controlPlane: { readonly name: string; readonly mode: string };
  /** Versions of the programs that made the payload, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** Payload: the export of a virtual control plane, as `POST …/tenants/NAME/backup` returns it. */
export const rangeExport = 'range-export';

export type Compression = 'zstd' | 'none';

export interface Header {
  /** Random: two backups never have the same header. */
  readonly id: string;
  readonly manifest: BackupManifest;
  readonly compression: Compression;
  readonly encryption?: { readonly keyId: string; readonly wrappedKey: Buffer };
}

export const formatVersion = 1;
export const magicStart = 'HANGAR-BACKUP-';
/** First bytes of a backup. */
export const magic = Buffer.from(`${magicStart}${formatVersion}\n`);
export const headerBytesMax = 64 * 1024;
export const digestBytes = 32;
const algorithm = 'AES-256-GCM';

export const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Bytes that the wrapped key is bound to. */
export const keyContext = (id: string): Buffer => Buffer.from(`${magic.toString()}${id}`);

export function encodeHeader({ id, manifest, compression, encryption }: Header): Buffer {
  const { payload, controlPlane, versions, createdAt } = manifest;
  return Buffer.from(
    JSON.stringify({
      format: formatVersion,
      id,
      payload,
      controlPlane,
      versions,
      createdAt,
      compression,
      ...(encryption && {
        encryption: { algorithm, keyId: encryption.keyId, wrappedKey: encryption.wrappedKey.toString('base64') },
      }),
    }),
  );
}

/** Throws `Corrupted` or `UnsupportedVersion`. The digest of the bytes was already compared, so a mistake here was made by the writer. */
export function decodeHeader(bytes: Buffer): Header {
  const value = parsed(bytes);
  if (value['format'] !== formatVersion) throw unsupported(`format ${String(value['format'])}`);
  const { id, payload, controlPlane, versions, createdAt, compression } = value;
  if (!isText(id) || !/^[0-9a-f]{32}$/.test(id)) throw malformed('id');
  if (!isText(payload) || payload === '') throw malformed('payload');
  if (!isObject(controlPlane) || !isText(controlPlane['name']) || !isText(controlPlane['mode'])) {
    throw malformed('controlPlane');
  }
  if (!isObject(versions) || !Object.values(versions).every(isText)) throw malformed('versions');
  if (!isText(createdAt) || Number.isNaN(Date.parse(createdAt))) throw malformed('createdAt');
  if (compression !== 'zstd' && compression !== 'none') throw unsupported(`compression ${String(compression)}`);
  const manifest: BackupManifest = {
    payload,
    controlPlane: { name: controlPlane['name'], mode: controlPlane['mode'] },
    versions: versions as Record<string, string>,
    createdAt,
  };
  const encryption = decodeEncryption(value['encryption']);
  return { id, manifest, compression, ...(encryption && { encryption }) };
}

function decodeEncryption(value: unknown): Header['encryption'] {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw malformed('encryption');
  if (value['algorithm'] !== algorithm) throw unsupported(`encryption ${String(value['algorithm'])}`);
  const { keyId, wrappedKey } = value;
  if (!isText(keyId) || !/^[0-9a-f]{16}$/.test(keyId)) throw malformed('encryption.keyId');
  const bytes = Buffer.from(isText(wrappedKey) ? wrappedKey : '', 'base64');
  if (bytes.length !== wrappedKeyBytes) throw malformed('encryption.wrappedKey');
  return { keyId, wrappedKey: bytes };
}

function parsed(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (isObject(value)) return value;
  } catch (error) {
    throw new BackupError('Corrupted', 'the backup is corrupted: its header is not JSON', { cause: error });
  }
  throw malformed('content');
}

const isText = (value: unknown): value is string => typeof value === 'string';
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const malformed = (field: string): BackupError =>
  new BackupError('Corrupted', `the backup is corrupted: its header has no valid ${field}`);

export const unsupported = (found: string): BackupError =>
  new BackupError(
    'UnsupportedVersion',
    `the backup has ${found.slice(0, 40)}, which this version of Hangar does not support; use the version that made it, or a later one`,
  );
