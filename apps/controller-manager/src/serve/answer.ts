/** An HTTP answer before it is sent. */

import type { StatusError } from '@hangar/api/status';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no body, for `HEAD`. */
  readonly body: string | LongBody | undefined;
}

/** Sent in chunks, as fast as the client reads. */
export interface LongBody {
  /** Memory in use while it is sent. */
  readonly byteLength: number;
  chunks(): Iterable<Buffer>;
}

export const plainText = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

export const json = (status: number, body: unknown): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: `${JSON.stringify(body, null, 2)}\n`,
});

/** Returns a Kubernetes `Status`. */
export const refusal = ({ status }: StatusError, headers: Readonly<Record<string, string>> = {}): Answer => {
  const answer = json(status.code ?? 500, status);
  return { ...answer, headers: { ...answer.headers, ...headers } };
};
