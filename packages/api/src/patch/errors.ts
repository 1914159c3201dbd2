/** Errors of kube-apiserver for patches that it cannot apply. */

import { StatusError } from '../status/status.ts';

/** 422 with a generic message: the reason stays in the server. `why` is for its log. */
export const unprocessable = (why: string): StatusError =>
  new StatusError('Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
    cause: new Error(why),
  });

/** Go's message for a document of an unexpected form. */
export const cannotUnmarshal = (value: unknown, into: string): string =>
  `json: cannot unmarshal ${jsonKind(value)} into Go ${into}`;

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}
