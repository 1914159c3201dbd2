/** Error for a response of another server that has only a status code, with the texts of Kubernetes. */

import { StatusError } from '@hangar/api';
import type { Status, StatusReason } from '@hangar/api';

export interface ForeignResponse {
  readonly status: number;
  /** Resource of the request: `pods/log`. */
  readonly resource: string;
  readonly name: string;
  /** Body of the response. */
  readonly text: string;
}

type Known = readonly [reason: StatusReason, message: string | undefined];

/** Undefined message: the text of the response. */
const known: Readonly<Record<number, Known>> = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', undefined],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable', undefined],
  409: ['Conflict', 'the server reported a conflict'],
  415: ['UnsupportedMediaType', undefined],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
};

class ForeignError extends StatusError {
  override readonly status: Status;

  constructor(reason: StatusReason | undefined, { status, resource, name }: ForeignResponse, message: string) {
    super(reason ?? 'InternalError', message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason ? { reason } : {}),
      details: { name, kind: resource },
      code: status,
    };
  }
}

export function genericResponse(response: ForeignResponse): StatusError {
  const { status, resource, name, text } = response;
  const [reason, fixed] = known[status] ?? (status >= 500 ? serverError(text) : unknownStatus(status));
  return new ForeignError(reason, response, `${fixed ?? text} ( ${resource} ${name})`);
}

const serverError = (text: string): Known => [
  'InternalError',
  `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`,
];

const unknownStatus = (status: number): readonly [undefined, string] => [
  undefined,
  `the server responded with the status code ${status} but did not return more information`,
];
