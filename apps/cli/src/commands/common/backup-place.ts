/** Options of `hangar backup` and `hangar restore` that name a place in S3 and a key. Secrets come from files and variables only. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BackupDestination, BackupKey } from '@hangar/backup';
import { asError, CodedError } from '@hangar/core';
import type { Given, OptionSpec } from '../../command.ts';
import { CliError, failed } from '../../errors.ts';
import type { Session } from '../../session.ts';
import { plain, quoted } from '../../terminal/plain-text.ts';

export const backupPlaceOptions: readonly OptionSpec[] = [
  {
    name: 'key-file',
    value: 'FILE',
    meaning: 'file with the encryption key: 32 bytes in base64 (openssl rand -base64 32) or hexadecimal notation',
    completes: 'file',
  },
  {
    name: 's3-endpoint',
    value: 'URL',
    meaning: 'S3 server (default: $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, or AWS)',
  },
  { name: 's3-region', value: 'NAME', meaning: 'region (default: $AWS_REGION, $AWS_DEFAULT_REGION, or us-east-1)' },
  {
    name: 's3-ca-file',
    value: 'FILE',
    meaning: 'CA certificates of the S3 server (default: $AWS_CA_BUNDLE, or those of the system)',
    completes: 'file',
  },
];

/** Sentence of the descriptions of both commands. */
export const credentialsHelp =
  'Credentials of S3 come from $AWS_ACCESS_KEY_ID, $AWS_SECRET_ACCESS_KEY and, for temporary ones, $AWS_SESSION_TOKEN.';

export const isS3 = (file: string): boolean => file.startsWith('s3://');

/** Returns the key of `--key-file`; undefined without the option. */
export async function givenKey(session: Session, given: Given): Promise<BackupKey | undefined> {
  const file = given.text('key-file');
  if (file === undefined) return undefined;
  const { parseBackupKey } = await import('@hangar/backup');
  const text = await textOf(session, file);
  return explained(async () => parseBackupKey(text), `key file ${quoted(file)}`);
}

export interface S3Place extends Disposable {
  readonly destination: BackupDestination;
  /** Of the backup. */
  readonly name: string;
}

/** Returns the place of `s3://BUCKET/PREFIX/NAME`. No request is sent. */
export async function s3Place(session: Session, given: Given, address: string): Promise<S3Place> {
  const { openDestination, parseS3Address, s3Environment, s3Storage } = await import('@hangar/backup');
  const { credentials, ...env } = s3Environment(session.env);
  if (!credentials) {
    throw failed('no credentials for S3', { next: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY' });
  }
  const caFile = given.text('s3-ca-file') ?? env.caFile;
  const ca = caFile === undefined ? undefined : await textOf(session, caFile);
  return explained(async () => {
    const { bucket, prefix, name } = parseS3Address(address);
    const storage = s3Storage({
      bucket,
      prefix,
      endpoint: given.text('s3-endpoint') ?? env.endpoint,
      region: given.text('s3-region') ?? env.region,
      credentials,
      ca,
      clock: session.clock,
    });
    return { destination: openDestination(storage), name, [Symbol.dispose]: () => storage.close() };
  });
}

/** Converts errors of backups to errors for the user. */
export async function explained<T>(work: () => Promise<T>, subject?: string): Promise<T> {
  const { BackupError } = await import('@hangar/backup');
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    const text = plain(error.message);
    const message = subject === undefined ? text : `${subject}: ${text}`;
    const isUsage = error.code === 'InvalidName' || error.code === 'InvalidKey';
    throw new CliError(isUsage ? 'Usage' : 'Failed', message, { next: nextSteps[error.code], cause: error });
  }
}

const nextSteps: Readonly<Record<string, string>> = {
  KeyRequired: 'give the key that the backup was made with: --key-file FILE',
  WrongKey: 'give the key that the backup was made with: --key-file FILE',
  CredentialsExpired: 'set new credentials in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN',
  BucketNotFound: 'create the bucket, or check --s3-endpoint and --s3-region',
};

async function textOf(session: Session, file: string): Promise<string> {
  try {
    return await readFile(resolve(session.folder, file), 'utf8');
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw failed(`${quoted(file)} cannot be read: ${asError(error).message}`, { cause: error });
  }
}
