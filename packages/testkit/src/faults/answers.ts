/** Responses that a test injects. */

import type { HttpAnswer } from '@hangar/client';

/** An error response. */
export interface Refusal {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

export function refusalAnswer({
  status,
  reason,
  message = 'injected by the test',
  retryAfterSeconds,
}: Refusal): HttpAnswer {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  return answerOf(status, headers, statusText({ status, message, ...(reason === undefined ? {} : { reason }) }));
}

const expired: Refusal = { status: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' };

export const expiredAnswer = (): HttpAnswer => refusalAnswer(expired);

/** kube-apiserver has often started its response before it detects that. */
export const expiredEventAnswer = (): HttpAnswer =>
  answerOf(200, { 'content-type': 'application/json' }, `{"type":"ERROR","object":${statusText(expired)}}\n`);

const statusText = ({ status, reason, message }: Refusal): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code: status });

function answerOf(status: number, headers: Readonly<Record<string, string>>, text: string): HttpAnswer {
  return {
    status,
    header: (name) => headers[name],
    body: () => Promise.resolve(Buffer.from(text)),
    async *stream() {
      yield Buffer.from(text);
    },
  };
}
