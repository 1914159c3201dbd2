/** Maps responses of S3 servers and failures of connections to errors of backups. */

import { asError } from '@hangar/core';
import { BackupError } from '../../errors.ts';
import type { BackupErrorCode } from '../../errors.ts';
import { textOf } from './xml.ts';

/** A failed request, with its place in the retry policy. */
export class S3Error extends BackupError {
  /** The same request may succeed. */
  readonly isRetryable: boolean;
  /** Error code of S3, such as `NoSuchUpload`; empty without a response. */
  readonly s3Code: string;
  readonly status: number;

  constructor(
    code: BackupErrorCode,
    message: string,
    { isRetryable, s3Code = '', status = 0, ...options }: S3ErrorOptions,
  ) {
    super(code, message, options);
    this.isRetryable = isRetryable;
    this.s3Code = s3Code;
    this.status = status;
  }
}

interface S3ErrorOptions extends ErrorOptions {
  readonly isRetryable: boolean;
  readonly s3Code?: string;
  readonly status?: number;
}

const byCode: Readonly<Record<string, readonly [BackupErrorCode, string]>> = {
  AccessDenied: ['AccessDenied', 'the credentials do not permit it'],
  AllAccessDisabled: ['AccessDenied', 'access to the bucket is disabled'],
  AccountProblem: ['AccessDenied', 'the account has a problem'],
  InvalidAccessKeyId: ['AccessDenied', 'the access key does not exist'],
  SignatureDoesNotMatch: ['AccessDenied', 'the secret access key is wrong'],
  AuthorizationHeaderMalformed: ['AccessDenied', 'the signature is refused; check the region'],
  InvalidToken: ['AccessDenied', 'the session token is invalid'],
  RequestTimeTooSkewed: ['AccessDenied', 'the clocks of client and server differ too much'],
  ExpiredToken: ['CredentialsExpired', 'the credentials have expired'],
  TokenRefreshRequired: ['CredentialsExpired', 'the credentials must be refreshed'],
  ExpiredTokenException: ['CredentialsExpired', 'the credentials have expired'],
  NoSuchBucket: ['BucketNotFound', 'the bucket does not exist'],
  InvalidBucketName: ['BucketNotFound', 'the name of the bucket is invalid'],
  PermanentRedirect: ['BucketNotFound', 'the bucket is at another endpoint or in another region'],
  NoSuchKey: ['NotFound', 'the object does not exist'],
  NoSuchUpload: ['NotFound', 'the upload does not exist'],
  PreconditionFailed: ['AlreadyExists', 'the object already exists'],
  ConditionalRequestConflict: ['AlreadyExists', 'another client writes the object'],
  EntityTooLarge: ['TooLarge', 'the server refuses its size'],
  QuotaExceeded: ['StorageFull', 'a quota is exceeded'],
  XMinioStorageFull: ['StorageFull', 'the storage is full'],
  XMinioAdminBucketQuotaExceeded: ['StorageFull', 'the quota of the bucket is exceeded'],
  InsufficientStorage: ['StorageFull', 'the storage is full'],
};

/** Codes of bodies that were changed or cut on the way to the server. */
const damagedOnTheWay: ReadonlySet<string> = new Set([
  'XAmzContentSHA256Mismatch',
  'BadDigest',
  'InvalidDigest',
  'IncompleteBody',
  'RequestTimeout',
  'XAmzContentChecksumMismatch',
]);

const byStatus: Readonly<Record<number, readonly [BackupErrorCode, string]>> = {
  401: ['AccessDenied', 'the credentials are refused'],
  403: ['AccessDenied', 'the credentials do not permit it'],
  404: ['NotFound', 'it does not exist'],
  409: ['AlreadyExists', 'another client writes the object'],
  412: ['AlreadyExists', 'the object already exists'],
  413: ['TooLarge', 'the server refuses its size'],
  507: ['StorageFull', 'the storage is full'],
};

export interface FailedRequest {
  /** `PUT of data/x`, for messages. */
  readonly action: string;
  readonly place: string;
}

/** Returns the error for a response that is not a success. */
export function responseError({ action, place }: FailedRequest, status: number, body: string): S3Error {
  const s3Code = textOf(body, 'Code') ?? '';
  const detail = (textOf(body, 'Message') ?? '').slice(0, 300);
  const shown = [String(status), s3Code, detail].filter((part) => part !== '').join(' ');
  const [code, problem] = byCode[s3Code] ?? byStatus[status] ?? rest(status, s3Code);
  const isRetryable =
    code === 'Unavailable' || s3Code === 'ConditionalRequestConflict' || s3Code === 'OperationAborted';
  return new S3Error(code, `${action} in ${place} failed: ${problem} (${shown})`, { isRetryable, s3Code, status });
}

function rest(status: number, s3Code: string): readonly [BackupErrorCode, string] {
  if (damagedOnTheWay.has(s3Code)) return ['Unavailable', 'the body was damaged on the way'];
  if (status === 429 || s3Code === 'SlowDown') return ['Unavailable', 'the server limits the rate of requests'];
  const isInternal = s3Code === 'InternalError' || s3Code === 'ServiceUnavailable';
  if (isInternal || status === 408 || (status >= 500 && status !== 501))
    return ['Unavailable', 'the server has a problem'];
  return ['StorageFailed', 'the server refuses the request'];
}

/** Returns the error for a connection that failed, or for a response that stopped. */
export function connectionError({ action, place }: FailedRequest, error: unknown): S3Error {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const isCertificate = /^(?:ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_SSL)/.test(code);
  const hint = isCertificate ? '; set the CA of the server' : '';
  return new S3Error('Unavailable', `${action} in ${place} failed: ${asError(error).message || code}${hint}`, {
    isRetryable: !isCertificate,
    cause: error,
  });
}
