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
 * | InvalidKey        | a name or namespace that no object of the kind can have: nothing was asked                      |
 * | InvalidDefinition | what should be a CustomResourceDefinition is none that types can be made of                      |
 * | Aborted           | the caller's signal (core's)                                                                     |
 */

import { CodedError } from '@hangar/core';
import { isStatusReason, StatusError } from '@hangar/api/status';
import type { Status, StatusReason } from '@hangar/api/status';

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

export class ClientError extends CodedError<ClientErrorCode> {}

/**
 * A refusal as it came from a server. Its code is one of Kubernetes' reasons, or what the HTTP code says where the server, or a webhook
 * behind it, says a word of its own (which is in `status`): a server must not be able to say what only this process can mean by a
 * code, such as `Aborted`, or a runtime's `Terminal`.
 */
export class ReceivedStatusError extends StatusError {
  override readonly status: Status;

  constructor(status: Status) {
    const reason = isStatusReason(status.reason) ? status.reason : reasonOfCode(status.code ?? 500);
    super(reason, status.message ?? `the server answered ${status.code}`);
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
