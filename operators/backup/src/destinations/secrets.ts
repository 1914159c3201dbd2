/** Reads credentials and encryption keys from Secrets. */

import { backupKey, parseBackupKey } from '@hangar/backup';
import type { BackupKey, S3Credentials } from '@hangar/backup';
import { find } from '@hangar/client';
import type { Reader } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import { annotations } from '../api/index.ts';
import type { EncryptionKeyReference, S3CredentialsReference } from '../api/index.ts';
import { ReferenceFault } from '../errors.ts';

export interface SecretReading {
  /** Reads from the server: Secrets are not cached. */
  readonly reader: Pick<Reader, 'get'>;
  /** Namespace of the object with the reference. */
  readonly namespace: string;
  readonly signal?: AbortSignal | undefined;
}

export interface S3Secret {
  readonly credentials: S3Credentials;
  /** PEM of the authorities of the server. */
  readonly ca: string | undefined;
}

/** Throws `SecretNotFound`, `SecretNotAllowed` or `SecretInvalid`. */
export async function readS3Secret(reference: S3CredentialsReference, reading: SecretReading): Promise<S3Secret> {
  const secret = await readSecret({ namespace: reading.namespace, ...reference }, reading);
  const accessKeyId = secret.text(reference.accessKeyIDKey ?? 'accessKeyID');
  const secretAccessKey = secret.text(reference.secretAccessKeyKey ?? 'secretAccessKey');
  const sessionToken = secret.optionalText('sessionToken');
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, ca: secret.optionalText('ca.crt') };
}

/** Returns undefined without a reference. Throws `SecretNotFound` or `SecretInvalid`. */
export async function readEncryptionKey(
  reference: EncryptionKeyReference | undefined,
  reading: SecretReading,
): Promise<BackupKey | undefined> {
  if (!reference) return undefined;
  const field = reference.key ?? 'key';
  const secret = await readSecret({ namespace: reading.namespace, name: reference.name }, reading);
  const bytes = secret.bytes(field);
  try {
    return bytes.length === 32 ? backupKey(bytes) : parseBackupKey(bytes.toString());
  } catch (error) {
    throw new ReferenceFault(
      'SecretInvalid',
      `${secret.label}, key ${JSON.stringify(field)}: ${asError(error).message}`,
      {
        cause: error,
      },
    );
  }
}

interface SecretContent {
  /** For messages. */
  readonly label: string;
  bytes(key: string): Buffer;
  text(key: string): string;
  optionalText(key: string): string | undefined;
}

async function readSecret(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { reader, namespace: from, signal }: SecretReading,
): Promise<SecretContent> {
  const label = `Secret ${JSON.stringify(`${namespace}/${name}`)}`;
  const secret = await find(reader, Secret, { namespace, name }, { signal });
  const allowed = secret?.metadata.annotations?.[annotations.allowedNamespaces] ?? '';
  if (namespace !== from && !allowed.split(',').some((one) => one.trim() === from)) {
    // The same text for a Secret that does not exist: its existence is not revealed to other namespaces.
    const advice = `its annotation ${annotations.allowedNamespaces} must contain ${JSON.stringify(from)}`;
    throw new ReferenceFault(
      'SecretNotAllowed',
      `${label} cannot be used in namespace ${JSON.stringify(from)}: ${advice}`,
    );
  }
  if (!secret) throw new ReferenceFault('SecretNotFound', `${label} does not exist; create it`);
  const found = (key: string): Buffer | undefined => {
    const value = secret.data?.[key];
    return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64');
  };
  const bytes = (key: string): Buffer => {
    const value = found(key);
    if (value) return value;
    throw new ReferenceFault('SecretInvalid', `${label} has no key ${JSON.stringify(key)}; add it`);
  };
  return {
    label,
    bytes,
    text: (key) => bytes(key).toString().trim(),
    optionalText: (key) => found(key)?.toString().trim(),
  };
}
