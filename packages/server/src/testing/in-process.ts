/** A complete API server on an in-memory store, called without a socket: for tests of requests. */

import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';
import { isStreaming } from '../http/message.ts';
import type { Answer, Headers } from '../http/message.ts';
import { administrator } from './authentication.ts';
import { openServer, serverRequest } from './open-server.ts';
import type { ServerOptions } from './open-server.ts';

export interface InProcessAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface InProcessRequest {
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly accept?: string;
  /** Absent: the token of the administrator. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface InProcessServer extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly store: Store;
  request(method: string, target: string, options?: InProcessRequest): Promise<InProcessAnswer>;
}

export interface InProcessOptions extends ServerOptions {
  /** Absent: an in-memory store. */
  readonly store?: Store;
}

/** Collects a body without backpressure. Rejects if the body is aborted. */
function wholeBody(body: Answer['body']): Promise<Buffer> {
  if (!isStreaming(body)) {
    return Promise.resolve(Array.isArray(body) ? Buffer.concat(body) : Buffer.from(body as Uint8Array));
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    body.start({
      write: (chunk) => chunks.push(chunk) > 0,
      end: () => resolve(Buffer.concat(chunks)),
      abort: () => reject(new Error('the answer was broken off')),
      onDrain: () => {},
      onClose: () => {},
    });
  });
}

/** Supports only watches that end by themselves: with `timeoutSeconds`. */
export async function startInProcess(options: InProcessOptions = {}): Promise<InProcessServer> {
  const store = options.store ?? (await openMemoryStore(options.clock ? { clock: options.clock } : {}));
  const { plane, server, problems, close } = await openServer(store, options);
  return {
    plane,
    store,
    async request(method, target, asked = {}) {
      const {
        body,
        contentType = 'application/json',
        accept = 'application/json',
        token = administrator.token,
      } = asked;
      const headers = new Map<string, string[]>([
        ['accept', [accept]],
        ['authorization', [`Bearer ${token}`]],
        ...Object.entries(asked.headers ?? {}).map(([name, value]) => [name.toLowerCase(), [value].flat()] as const),
      ]);
      if (body !== undefined) headers.set('content-type', [contentType]);
      const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array());
      const answer = await server.handle(serverRequest({ method, target, headers, body: bytes }));
      if (problems.length > 0) throw problems[0]!;
      const whole = await wholeBody(answer.body);
      return { status: answer.status, headers: answer.headers, body: whole };
    },
    async [Symbol.asyncDispose]() {
      close();
      await store.close();
    },
  };
}
