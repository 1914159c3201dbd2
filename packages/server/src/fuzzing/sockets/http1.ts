/** HTTP/1.1 in ways that no client library allows. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { costlyRequest, hostileRequest } from '../hostile-request.ts';
import type { HostileRequest } from '../hostile-request.ts';
import { judge } from '../judge.ts';
import type { Act } from './fire.ts';
import { readAnswers } from './http1-answers.ts';
import type { Target } from './target.ts';

const answerTimeoutMs = 15_000;

/** Drops characters that are not allowed in a request line or a header; `garbage` covers those. */
const sendable = (text: string): string => text.replace(/[^\u0021-\u007e]/g, '');

/** The HTTP parser ends the connection at a target of another form, without responses to earlier requests; `garbage` covers those. */
const absolutePath = (target: string): string => (target.startsWith('/') ? target : `/${target}`);

function encode({ method, target, headers, body }: HostileRequest, authorization: string, more = ''): Buffer {
  const lines = [`${method} ${absolutePath(sendable(target))} HTTP/1.1`, 'Host: x', `Authorization: ${authorization}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${sendable(value)}`);
  if (body !== undefined) lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n${more}\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

const knownMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE']);
const isWatch = ({ target }: HostileRequest): boolean => /watch/i.test(target);

function usual(random: Random): HostileRequest {
  for (;;) {
    const request = hostileRequest(random);
    const isCanarys = request.method === 'DELETE';
    if (knownMethods.has(request.method) && !isWatch(request) && !isCanarys) return request;
  }
}

/** Returns false if the server closes the connection after the responses. */
async function answersOf(socket: TLSSocket, methods: readonly string[]): Promise<boolean> {
  const answers = await readAnswers(socket, methods, answerTimeoutMs);
  for (const [at, answer] of answers.entries()) {
    // The HTTP parser refuses invalid requests before they reach the server, with a code and an empty body.
    const isBelow = answer.body.length === 0 && (answer.status === 400 || answer.status === 431);
    if (!isBelow) judge({ method: methods[at]!, ...answer });
  }
  return !answers.at(-1)!.isLast;
}

async function hostileRequests(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  const requests = Array.from({ length: 1 + random.below(5) }, () => usual(random));
  for (const request of requests) {
    socket.write(encode(request, target.authorization));
    if (!(await answersOf(socket, [request.method]))) break;
  }
  socket.destroy();
  return requests.length;
}

/** Sends all requests without waiting; the responses arrive in order. */
async function pipelined(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  const requests = Array.from({ length: 2 + random.below(30) }, () => usual(random));
  socket.write(Buffer.concat(requests.map((request) => encode(request, target.authorization))));
  await answersOf(
    socket,
    requests.map(({ method }) => method),
  );
  socket.destroy();
  return requests.length;
}

/** Sends more than 3 MiB, with a length or in chunks. */
async function tooMuch(random: Random, target: Target): Promise<number> {
  if (chance(random, 0.8)) return costlyOne(random, target);
  const socket = await target.tls('http/1.1');
  const path = '/api/v1/namespaces/default/configmaps';
  const isChunked = chance(random, 0.5);
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${4 * 1024 * 1024}`;
  const type = 'Content-Type: application/json';
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${target.authorization}\r\n${type}\r\n${length}\r\n\r\n`,
  );
  const piece = Buffer.alloc(64 * 1024, 0x20);
  for (let at = 0; at < 64; at++) {
    if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`);
    socket.write(piece);
    if (isChunked) socket.write('\r\n');
  }
  if (isChunked) socket.write('0\r\n\r\n');
  const [answer] = await readAnswers(socket, ['POST'], answerTimeoutMs);
  assert.equal(answer!.status, 413);
  judge({ method: 'POST', ...answer! });
  socket.destroy();
  return 1;
}

async function costlyOne(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  const request = chance(random, 0.2) ? costlyRequest(random) : usual(random);
  socket.write(encode(request, target.authorization, chance(random, 0.3) ? 'Expect: 100-continue\r\n' : ''));
  await answersOf(socket, [request.method]);
  socket.destroy();
  return 1;
}

const brokenHeads = [
  'GET\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'GET ?a=b HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
  'GET / HTTP/1.1\nHost: x\n\n',
  'GET / HTTP/1.1\r\nHost x\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
  `GET /${'y'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(3_000)}\r\n`,
  'GET / HTTP/1.1\r\nHost: x\r\n__proto__: a\r\nconstructor: b\r\n\r\n',
  '\u0000\u0001\u0002\u0003',
  '\r\n\r\n\r\n\r\n',
  '',
];

async function garbage(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  socket.write(chance(random, 0.8) ? Buffer.from(pick(random, brokenHeads), 'latin1') : random.bytes(200));
  socket.end();
  socket.resume();
  await ended(socket);
  return 1;
}

/** The server must close a connection that the client closed. */
async function ended(socket: TLSSocket): Promise<void> {
  if (socket.closed) return;
  const timer = setTimeout(
    () => socket.destroy(new Error('the server keeps a connection that its client ended')),
    answerTimeoutMs,
  );
  const error = await new Promise<Error | undefined>((resolve) => {
    socket.once('error', (problem: NodeJS.ErrnoException) => resolve(problem.code === undefined ? problem : undefined));
    socket.once('close', () => resolve(undefined));
  });
  clearTimeout(timer);
  if (error) throw error;
}

/** Resets the connection in the middle of a head or a body. */
async function reset(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  const bytes = encode(usual(random), target.authorization);
  socket.write(bytes.subarray(0, random.below(bytes.length)));
  if (chance(random, 0.5)) await new Promise((resolve) => setImmediate(resolve));
  gone(random, target, socket);
  return 1;
}

function gone(random: Random, target: Target, socket: TLSSocket): void {
  if (chance(random, 0.5)) socket.destroy();
  else target.reset(socket);
}

async function resetWatch(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  const path = '/api/v1/namespaces/default/configmaps?watch=true';
  const more = pick(random, [
    '',
    '&allowWatchBookmarks=true',
    '&resourceVersion=1',
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  ]);
  socket.write(`GET ${path}${more} HTTP/1.1\r\nHost: x\r\nAuthorization: ${target.authorization}\r\n\r\n`);
  if (chance(random, 0.7)) await once(socket, 'data');
  gone(random, target, socket);
  return 1;
}

/** Sends half a request and stays connected, until the server times out or the run finishes. */
async function halfOpen(random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  const bytes = encode(usual(random), target.authorization);
  socket.write(bytes.subarray(0, bytes.length >> 1));
  socket.resume();
  return 1;
}

/** Sends requests and reads no responses. */
async function deaf(_random: Random, target: Target): Promise<number> {
  const socket = await target.tls('http/1.1');
  socket.pause();
  const head = `GET /openapi/v2 HTTP/1.1\r\nHost: x\r\nAuthorization: ${target.authorization}\r\n\r\n`;
  socket.write(head.repeat(3));
  return 3;
}

async function noTls(random: Random, target: Target): Promise<number> {
  const socket = target.tcp();
  await once(socket, 'connect');
  socket.write(
    pick(random, [
      'GET / HTTP/1.1\r\n\r\n',
      '\u0016\u0003\u0001',
      random.bytes(100),
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]),
  );
  if (chance(random, 0.5)) socket.destroy();
  else socket.resume();
  return 1;
}

export const http1Acts: Readonly<Record<string, Act>> = {
  hostileRequests,
  moreHostileRequests: hostileRequests,
  pipelined,
  morePipelined: pipelined,
  tooMuch,
  garbage,
  reset,
  resetWatch,
  halfOpen,
  deaf,
  noTls,
};
