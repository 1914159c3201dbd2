/**
 * Proxies one request to an aggregated API server, and streams its response back: events of a watch are written when they arrive, a slow
 * client slows only its own response, and when one side disconnects, the other is closed. Proxy errors are reported as in kube-apiserver:
 * 503 in plain text.
 */

import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { badRequest, StatusError } from '@hangar/api';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { User } from '../auth/user.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { pass } from '../http/relay.ts';
import { bodyBytesMax } from '../limits.ts';
import { outboundError } from '../outbound/errors.ts';
import { answeredHeaders } from './answer-headers.ts';
import { forwardedHeaders } from './headers.ts';
import type { Upstream } from './connection-pool.ts';
import type { RemoteServer } from './remote-server.ts';
import { withoutTokens } from './target.ts';
import { insistOnNoBody, tunnel } from './tunnel.ts';

/** As in kube-apiserver: every response except a watch must start within a minute, discovery within seconds. */
const answerTimeoutMs = 60_000;
const discoveryTimeoutMs = 5_000;

export interface ProxyOptions {
  readonly clock: Clock;
  /** This server's name in `Via`. */
  readonly self: string;
  /** Discovery of a group-version, for which every client waits. */
  readonly isDiscovery: boolean;
  /** Called when the other server is unreachable or broke off. */
  readonly onFailure: () => void;
}

export async function proxied(
  server: RemoteServer,
  request: ServerRequest,
  user: User,
  options: ProxyOptions,
): Promise<Answer> {
  const headers = forwardedHeaders(request, user, options.self);
  if (request.passing?.upgrade) insistOnNoBody(request);
  try {
    return await passedOn(server, request, headers, options);
  } catch (error) {
    options.onFailure();
    if (error instanceof StatusError) throw error;
    return textAnswer(503, outboundError(error).message);
  }
}

export interface PassOptions {
  readonly clock: Clock;
  readonly isDiscovery: boolean;
  /** The body, if it was read before. */
  readonly body?: Uint8Array | undefined;
}

/** Passes a request on with these headers. Rejects if the other server is unreachable or broke off before its response. */
export async function passedOn(
  server: Upstream,
  request: ServerRequest,
  headers: OutgoingHttpHeaders,
  options: PassOptions,
): Promise<Answer> {
  const upgrade = request.passing?.upgrade;
  if (!upgrade) return exchange(server, request, headers, options);
  insistOnNoBody(request);
  const { clock } = options;
  return tunnel(server, request, headers, { upgrade, clock }, (response) => streamed(response, request));
}

async function exchange(
  server: Upstream,
  request: ServerRequest,
  headers: OutgoingHttpHeaders,
  options: PassOptions,
): Promise<Answer> {
  const { method } = request;
  const target = withoutTokens(request.target);
  const isRead = isReading(method);
  const body = options.body ? readBody(options.body, headers) : await bodyOf(request, headers);
  for (let attempt = 1; ; attempt++) {
    const outgoing = await server.begin({ method, target, headers });
    const answered = answer(outgoing, options);
    const stay = request.passing?.onGone?.(() => outgoing.destroy());
    send(outgoing, body);
    try {
      return streamed(await answered, request);
    } catch (error) {
      outgoing.destroy();
      // The server closed a kept connection just as it was reused. It probably never saw this request, but that is not certain, so only
      // reads are repeated.
      const mayRepeat = outgoing.reusedSocket && attempt === 1 && isRead && !('stream' in body) && isReset(error);
      if (!mayRepeat) throw error;
    } finally {
      stay?.();
    }
  }
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

export type Body = { readonly bytes: Uint8Array } | { readonly stream: NonNullable<ServerRequest['passing']>['body'] };

const empty: Body = { bytes: new Uint8Array() };

function readBody(bytes: Uint8Array, headers: OutgoingHttpHeaders): Body {
  if (bytes.length > 0) headers['content-length'] = bytes.length;
  return { bytes };
}

/** Also sets the headers for the framing of the body. */
export async function bodyOf(request: ServerRequest, headers: OutgoingHttpHeaders): Promise<Body> {
  const { passing, method } = request;
  const length = request.header('content-length');
  if (!passing) return readBody(await request.body(bodyBytesMax), headers);
  // Without a length, only reading the body shows whether it is empty.
  const isEmpty = length === undefined ? isReading(method) : length === '0';
  if (isEmpty) return empty;
  if (length === undefined) headers['transfer-encoding'] = 'chunked';
  else if (!/^\d{1,15}$/.test(length)) throw badRequest('invalid Content-Length');
  else headers['content-length'] = length;
  return { stream: passing.body };
}

export function send(outgoing: ClientRequest, body: Body): void {
  if (!('stream' in body)) {
    outgoing.end(body.bytes);
    return;
  }
  const { stream } = body;
  const breakOff = (): void =>
    void outgoing.destroy(new Error('the client closed the connection before the request body was complete'));
  stream.once('error', breakOff);
  stream.once('aborted', breakOff);
  // The other server stopped reading: drain the rest, so that the client's connection does not block.
  outgoing.once('close', () => stream.unpipe(outgoing).resume());
  stream.pipe(outgoing);
}

function answer(outgoing: ClientRequest, { clock, isDiscovery }: PassOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(isDiscovery ? discoveryTimeoutMs : answerTimeoutMs, () => {
      outgoing.destroy(isDiscovery ? new Error('context deadline exceeded') : tooSlow());
    });
    outgoing.on('error', (error) => {
      timer.cancel();
      reject(error);
    });
    outgoing.once('response', (response) => {
      timer.cancel();
      resolve(response);
    });
  });
}

const tooSlow = (): StatusError =>
  new StatusError('Timeout', 'Timeout: request did not complete within the allotted timeout');

function streamed(response: IncomingMessage, { method }: ServerRequest): Answer {
  const status = response.statusCode ?? 502;
  response.on('error', () => response.destroy());
  if (status >= 300 && status < 400 && response.headers.location !== undefined) {
    response.destroy();
    return textAnswer(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  const headers = answeredHeaders(response.rawHeaders);
  // Drained, not aborted: the connection can be reused.
  if (method === 'HEAD') return { status, headers, body: { start: () => void response.resume() } };
  return { status, headers, body: { start: (sink) => pass(response, sink) } };
}

const isReset = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((asError(error) as { code?: string }).code ?? '');

/** Returns a refusal as Go's HTTP server writes it. */
export const textAnswer = (status: number, text: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: Buffer.from(`${text}\n`),
});

export const unavailable = textAnswer(503, 'service unavailable');
