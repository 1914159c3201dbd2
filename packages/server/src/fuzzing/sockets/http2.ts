/** HTTP/2: a client library at its limits, and frames that no library would send. */

import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { hostileRequest } from '../hostile-request.ts';
import type { HostileRequest } from '../hostile-request.ts';
import { judge } from '../judge.ts';
import type { Act } from './fire.ts';
import { frame, frameTypes, hostileFrames, preface } from './frames.ts';
import type { Target } from './target.ts';

const answerTimeoutMs = 15_000;
const sendable = (text: string): string => text.replace(/[^\u0021-\u007e]/g, '');

function usual(random: Random): HostileRequest {
  for (;;) {
    const request = hostileRequest(random);
    if (/^[A-Z]+$/.test(request.method) && request.method !== 'DELETE' && !/watch/i.test(request.target))
      return request;
  }
}

function open(
  session: ClientHttp2Session,
  { method, target, headers, body }: HostileRequest,
  authorization: string,
): ClientHttp2Stream {
  const all: Record<string, string> = { ':method': method, ':path': sendable(target) || '/', authorization };
  for (const [name, value] of Object.entries(headers)) all[name] = sendable(value);
  const stream = session.request(all, { endStream: body === undefined });
  stream.on('error', () => {});
  if (body !== undefined) stream.end(body);
  return stream;
}

async function answer(stream: ClientHttp2Stream, method: string): Promise<void> {
  const timer = setTimeout(() => stream.destroy(new Error('no answer in time')), answerTimeoutMs);
  try {
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const isCompressed = headers['content-encoding'] !== undefined;
    if (!isCompressed)
      judge({
        method,
        status: headers[':status']!,
        contentType: headers['content-type'] ?? '',
        body: Buffer.concat(chunks),
      });
  } catch (error) {
    // The protocol refuses an invalid head with a stream error instead of a response.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_HTTP2_STREAM_ERROR') throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Opens a few or very many streams; the server may refuse those beyond its limit. */
async function manyStreams(random: Random, target: Target): Promise<number> {
  const session = await target.http2();
  const count = pick(random, [1, 5, 40]);
  const requests = Array.from({ length: count }, () => usual(random));
  await Promise.all(requests.map((request) => answer(open(session, request, target.authorization), request.method)));
  session.destroy();
  return count;
}

/** Opens streams and resets them immediately. */
async function resets(random: Random, target: Target): Promise<number> {
  const session = await target.http2();
  const count = 20 + random.below(150);
  for (let at = 0; at < count && !session.destroyed; at++) {
    const stream = open(session, usual(random), target.authorization);
    stream.close(pick(random, [constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR]));
    if (chance(random, 0.1)) await new Promise((resolve) => setImmediate(resolve));
  }
  session.destroy();
  return count;
}

/** Sends many requests with a flow-control window of zero; stays connected until the run finishes. */
async function zeroWindow(_random: Random, target: Target): Promise<number> {
  const session = await target.http2({ settings: { initialWindowSize: 0 } });
  for (const path of ['/openapi/v2', '/api/v1/namespaces/default/configmaps?watch=true', '/apis']) {
    const stream = session.request({ ':path': path, authorization: target.authorization });
    stream.on('error', () => {});
  }
  return 3;
}

async function watchesLeft(random: Random, target: Target): Promise<number> {
  const session = await target.http2();
  const count = 1 + random.below(20);
  for (let at = 0; at < count; at++) {
    const path = `/api/v1/namespaces/default/${pick(random, ['configmaps', 'pods'])}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    const stream = session.request({ ':path': path, authorization: target.authorization });
    stream.on('error', () => {});
    stream.resume();
    if (at === 0) await once(stream, 'response');
  }
  session.destroy();
  return count;
}

async function bodyLeftOpen(random: Random, target: Target): Promise<number> {
  const session = await target.http2();
  const stream = session.request({
    ':method': 'POST',
    ':path': '/api/v1/namespaces/default/configmaps',
    'content-type': 'application/json',
    authorization: target.authorization,
  });
  stream.on('error', () => {});
  stream.write('{"metadata":');
  if (chance(random, 0.5)) session.destroy();
  return 1;
}

async function strangeFrames(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('h2');
  socket.resume();
  const count = 1 + random.below(6);
  const frames = Array.from({ length: count }, () => pick(random, hostileFrames)(random));
  const start = chance(random, 0.95) ? [preface, frame(frameTypes.settings, 0, 0)] : [];
  socket.write(Buffer.concat([...start, ...frames]));
  await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
  return count;
}

export const http2Acts: Readonly<Record<string, Act>> = {
  manyStreams,
  moreStreams: manyStreams,
  resets,
  zeroWindow,
  watchesLeft,
  bodyLeftOpen,
  strangeFrames,
};
