/**
 * Keys of encrypted backups. A user has one key of 256 bits, for example in a Secret. Each backup has its own random data key, which the
 * user's key wraps. So a key can encrypt any number of backups, and no two chunks of any two backups share key and nonce.
 */

import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Random } from '@hangar/core';
import { BackupError } from '../errors.ts';

export const keyBytes = 32;
export const nonceBytes = 12;
export const tagBytes = 16;
export const cipherName = 'aes-256-gcm';
/** Length of a wrapped data key: nonce, encrypted key, tag. */
export const wrappedKeyBytes = nonceBytes + keyBytes + tagBytes;

/** A key of a user. */
export interface BackupKey {
  readonly bytes: Uint8Array;
  /** Identifies the key without revealing it. */
  readonly id: string;
}

/** Returns the key with these 32 bytes. Throws `InvalidKey`. */
export function backupKey(bytes: Uint8Array): BackupKey {
  if (bytes.length !== keyBytes) throw invalidKey(`it has ${bytes.length} bytes`);
  const id = createHash('sha256').update('hangar backup key\0').update(bytes).digest('hex').slice(0, 16);
  return { bytes, id };
}

/** Reads the text of a key file: 32 bytes in base64 (`openssl rand -base64 32`) or hexadecimal notation. Throws `InvalidKey`. */
export function parseBackupKey(text: string): BackupKey {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return backupKey(Buffer.from(trimmed, 'hex'));
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) throw invalidKey('it has other characters');
  return backupKey(Buffer.from(trimmed, 'base64'));
}

const invalidKey = (problem: string): BackupError =>
  new BackupError(
    'InvalidKey',
    `a backup key is 32 bytes in base64 or hexadecimal notation, but ${problem}; make one: openssl rand -base64 32`,
  );

/** Encrypts a data key. `context` is authenticated: the result is valid only together with it. */
export function wrapKey(key: BackupKey, dataKey: Uint8Array, context: Uint8Array, random: Random): Buffer {
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv(cipherName, key.bytes, nonce);
  cipher.setAAD(context);
  return Buffer.concat([nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a data key. Throws `WrongKey`. */
export function unwrapKey(key: BackupKey, wrapped: Buffer, context: Uint8Array): Buffer {
  const decipher = createDecipheriv(cipherName, key.bytes, wrapped.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(context);
  decipher.setAuthTag(wrapped.subarray(nonceBytes + keyBytes));
  try {
    return Buffer.concat([decipher.update(wrapped.subarray(nonceBytes, nonceBytes + keyBytes)), decipher.final()]);
  } catch (error) {
    throw new BackupError('WrongKey', `the backup cannot be decrypted with key ${key.id}`, { cause: error });
  }
}
