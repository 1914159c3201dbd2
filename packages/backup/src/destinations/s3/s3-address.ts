/** Addresses of backups in S3, and the settings of an S3 server from the usual environment variables. */

import { BackupError } from '../../errors.ts';
import type { S3Credentials } from './sign.ts';

export interface S3Address {
  readonly bucket: string;
  readonly prefix: string;
  readonly name: string;
}

export const isS3Address = (text: string): boolean => text.startsWith('s3://');

/** Parses `s3://BUCKET/PREFIX/NAME`; the prefix is optional. Throws `InvalidName`. */
export function parseS3Address(text: string): S3Address {
  const [, bucket, path = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(text) ?? [];
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  if (bucket === undefined || name === '') {
    throw new BackupError(
      'InvalidName',
      `${JSON.stringify(text)} is not an address of the form s3://BUCKET/PREFIX/NAME`,
    );
  }
  return { bucket, prefix: path.slice(0, Math.max(0, slash)), name };
}

export interface S3Environment {
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** Path of a file. */
  readonly caFile: string | undefined;
  /** Absent if a variable is missing. */
  readonly credentials: S3Credentials | undefined;
}

/** Reads the `AWS_*` variables. Empty ones count as unset. */
export function s3Environment(env: Readonly<Record<string, string | undefined>>): S3Environment {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  const [accessKeyId, secretAccessKey] = [first('AWS_ACCESS_KEY_ID'), first('AWS_SECRET_ACCESS_KEY')];
  return {
    endpoint: first('AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'),
    region: first('AWS_REGION', 'AWS_DEFAULT_REGION'),
    caFile: first('AWS_CA_BUNDLE'),
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? { accessKeyId, secretAccessKey, sessionToken: first('AWS_SESSION_TOKEN') }
        : undefined,
  };
}
