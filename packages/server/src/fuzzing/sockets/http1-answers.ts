/** Parses responses from a socket, in order: only the part of HTTP/1.1 that the server uses. */

import type { TLSSocket } from 'node:tls';

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /** The server announced the close of the connection. */
  readonly isLast: boolean;
}

/** Returns one response per request, or those up to one that closes the connection. Rejects on timeout: the server hangs. */
export function readAnswers(socket: TLSSocket, methods: readonly string[], timeoutMs: number): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    let buffer = Buffer.alloc(0);
    const answers: RawAnswer[] = [];
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      settle();
    };
    const timer = setTimeout(() => {
      finish(() =>
        reject(
          new Error(
            `${answers.length} of ${methods.length} answers came in time; left: ${buffer.toString('latin1').slice(0, 300)}`,
          ),
        ),
      );
    }, timeoutMs);
    const onEnd = (): void =>
      finish(() =>
        answers.length > 0 ? resolve(answers) : reject(new Error('the connection ended without an answer')),
      );
    const onData = (piece: Buffer): void => {
      buffer = Buffer.concat([buffer, piece]);
      for (;;) {
        const parsed = parse(buffer, methods[answers.length] ?? 'GET');
        if (!parsed) return;
        buffer = buffer.subarray(parsed.length);
        if (parsed.answer.status === 100) continue;
        answers.push(parsed.answer);
        if (answers.length === methods.length) return finish(() => resolve(answers));
      }
    };
    socket.on('data', onData);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
  });
}

function parse(bytes: Buffer, method: string): { answer: RawAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const status = Number(first.split(' ')[1]);
  const hasBody = method !== 'HEAD' && status !== 100 && status !== 304;
  const length = hasBody ? Number(headers.get('content-length') ?? NaN) : 0;
  if (Number.isNaN(length)) throw new Error(`an answer without a length: ${first} ${lines.join(' ')}`);
  const start = end + 4;
  if (bytes.length < start + length) return undefined;
  const body = Buffer.from(bytes.subarray(start, start + length));
  const isLast = headers.get('connection') === 'close';
  return { answer: { status, contentType: headers.get('content-type') ?? '', body, isLast }, length: start + length };
}
