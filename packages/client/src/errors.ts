/**
 * Errors of this package, except error responses of a server, which are `StatusError` of @hangar/api with the reason as their code. Test
 * the `code` with `hasCode`.
 *
 * | code              | meaning                                                                                         |
 * |-------------------|-------------------------------------------------------------------------------------------------|
 * | ConnectionFailed  | no connection, or the server certainly did not read the request: a retry is safe                 |
 * | ConnectionLost    | the connection broke during the request: the server may have executed it                         |
 * | TimedOut          | no response in time                                                                              |
 * | MalformedAnswer   | the response is not a valid response of a Kubernetes API                                         |
 * | InvalidKubeconfig | a kubeconfig cannot be parsed or has contradicting fields                                        |
 * | CredentialsFailed | a credential plugin failed, or a token file or certificate cannot be read                        |
 * | UnknownKind       | the discovery of the server does not contain the kind                                            |
 * | InvalidKey        | a name or namespace is not valid for the kind; no request was sent                               |
 * | InvalidDefinition | an input is not a CustomResourceDefinition, or no types can be generated from it                 |
 * | Aborted           | the signal of the caller was aborted (from @hangar/core)                                         |
 */

import { CodedError } from '@hangar/core';
import { isStatusReason, StatusError } from '@hangar/api/status';
import type { Status, StatusReason } from '@hangar/api/status';

/** The codes of `ClientError`. */
export type ClientErrorCode =
  | 'ConnectionFailed'
  | 'ConnectionLost'
  | 'TimedOut'
  | 'MalformedAnswer'
  | 'InvalidKubeconfig'
  | 'CredentialsFailed'
  | 'InvalidDefinition'
  | 'UnknownKind'
  | 'InvalidKey';

/** A failure that is not an error response of the server. Its `code` is one of `ClientErrorCode`. */
export class ClientError extends CodedError<ClientErrorCode> {}

/**
 * An error response of a server. `status` has the response as received. `code` is its reason if Kubernetes defines that reason, otherwise
 * the reason that corresponds to the HTTP status. So a server or a webhook cannot produce a code that only this process uses, such as
 * `Aborted` or `Terminal`.
 */
export class ReceivedStatusError extends StatusError {
  override readonly status: Status;

  constructor(status: Status) {
    const reason = isStatusReason(status.reason) ? status.reason : reasonOfCode(status.code ?? 500);
    super(reason, status.message ?? `the server responded with ${status.code}`);
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

/** Returns the reason for a response that has an HTTP status but no reason. */
export const reasonOfCode = (code: number): StatusReason => reasons[code] ?? 'InternalError';
