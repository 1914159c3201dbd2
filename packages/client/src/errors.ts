/**
 * Every error of this package that is no refusal of a server. Test the `code`. Refusals are api's `StatusError`, with the
 * reason as its code.
 *
 * | code              | meaning                                                                                        |
 * |-------------------|------------------------------------------------------------------------------------------------|
 * | ConnectionFailed  | no connection, or the request certainly was not read: asking again is safe                      |
 * | ConnectionLost    | the connection broke under way: whether the request was done is not known                       |
 * | TimedOut          | no answer in time                                                                                |
 * | MalformedAnswer   | what came is not what Kubernetes would say                                                       |
 * | InvalidKubeconfig | a kubeconfig that cannot be read or says contradicting things                                    |
 * | CredentialsFailed | a credential plugin, token file or certificate could not be had                                  |
 * | UnknownKind       | the server's discovery has no such kind                                                          |
 * | Aborted           | the caller's signal (core's)                                                                     |
 */

import { CodedError } from '@hangar/core';
import { StatusError } from '@hangar/api';
import type { Status, StatusReason } from '@hangar/api';

export type ClientErrorCode =
  | 'ConnectionFailed'
  | 'ConnectionLost'
  | 'TimedOut'
  | 'MalformedAnswer'
  | 'InvalidKubeconfig'
  | 'CredentialsFailed'
  | 'UnknownKind';

export class ClientError extends CodedError<ClientErrorCode> {}

/** A refusal as it came from a server. */
export class ReceivedStatusError extends StatusError {
  override readonly status: Status;

  constructor(status: Status) {
    super(status.reason ?? reasonOfCode(status.code ?? 500), status.message ?? `the server answered ${status.code}`);
    this.status = status;
  }
}

const reasons: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** What clients make of an answer that has a code and no reason. */
export const reasonOfCode = (code: number): StatusReason => reasons[code] ?? 'InternalError';
