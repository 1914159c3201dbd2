/** The measured works. Each returns the milliseconds of one unit: the whole transfer, or one round trip. */

import { once } from 'node:events';
import { Agent, get as httpGet } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Message, WebSocketClient } from '../../packages/server/src/nodes/testing/websocket-client.ts';
import { Session } from '../../tests/nodes/testing/session.ts';
import { percentile } from '../table.ts';
import type { Target } from './cluster.ts';
import { exec, execSession, get, receive } from './connection.ts';
import { filePort } from './pods.ts';

export interface Work {
  readonly name: string;
  /** Whether the time is of a transfer of all bytes, which is printed as a rate. */
  readonly isTransfer: boolean;
  /** Resolves with the milliseconds of one unit. */
  run(target: Target, sizes: Sizes): Promise<number>;
}

export interface Sizes {
  /** Of a transfer. */
  readonly bytes: number;
  /** Round trips of one measurement. */
  readonly rounds: number;
}

export const works: readonly Work[] = [
  {
    name: 'logs -f',
    isTransfer: true,
    run: (target, { bytes }) =>
      timed(async () => {
        const answer = await get(target, '/api/v1/namespaces/default/pods/log-writer/log?follow=true');
        await receive(answer, bytes);
        answer.destroy();
      }),
  },
  {
    name: 'exec, output',
    isTransfer: true,
    run: (target, { bytes }) =>
      timed(async () => {
        const socket = await exec(target, 'web-server', ['cat', '/tmp/files/large']);
        await receive(socket, bytes);
        socket.destroy();
      }),
  },
  { name: 'exec, start and exit', isTransfer: false, run: execRequests },
  { name: 'exec, round trip', isTransfer: false, run: execRoundTrips },
  {
    name: 'port-forward, transfer',
    isTransfer: true,
    run: (target, { bytes }) => forwarded(target, (port) => download(port, bytes)),
  },
  {
    name: 'port-forward, request',
    isTransfer: false,
    run: (target, { rounds }) => forwarded(target, (port) => requests(port, rounds)),
  },
];

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Returns the median of the given number of measurements, one after the other. */
async function medianOf(rounds: number, work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await timed(work));
  return percentile(
    times.toSorted((a, b) => a - b),
    0.5,
  );
}

/** A whole session: the program starts, writes nothing and exits. The kubelet and the container runtime take most of the time. */
function execRequests(target: Target, { rounds }: Sizes): Promise<number> {
  return medianOf(Math.ceil(rounds / 10), async () => {
    const session = await execSession(target, 'web-server', ['true']);
    // The last message is the status. The first messages of a channel are empty.
    for (let isDone = false; !isDone;) {
      const { payload } = await nextMessage(session);
      isDone = payload[0] === status && payload.length > 1;
    }
    session.socket.destroy();
  });
}

/** The first byte of a message. */
const [stdin, stdout, status] = [0, 1, 3];

async function nextMessage(session: WebSocketClient): Promise<Message> {
  const message = await session.next();
  if (!message) throw new Error('the exec session ended');
  return message;
}

/** A line through an open session to `cat` and back. */
async function execRoundTrips(target: Target, { rounds }: Sizes): Promise<number> {
  const session = await execSession(target, 'web-server', ['cat']);
  const line = Buffer.from('a line\n');
  try {
    return await medianOf(rounds, async () => {
      session.send(Buffer.concat([Buffer.from([stdin]), line]));
      for (let received = 0; received < line.length;) {
        const { payload } = await nextMessage(session);
        if (payload[0] === stdout) received += payload.length - 1;
      }
    });
  } finally {
    session.socket.destroy();
  }
}

/** Runs `work` with the local port of `kubectl port-forward`. */
async function forwarded(target: Target, work: (port: number) => Promise<number>): Promise<number> {
  await using forward = new Session(target.kubectl.start('port-forward', 'pod/web-server', `:${filePort}`));
  const [, port] = await forward.until(/^Forwarding from 127\.0\.0\.1:(\d+) -> /m);
  return await work(Number(port));
}

const download = (port: number, bytes: number): Promise<number> =>
  timed(async () => receive(await answerOf(port, '/large'), bytes));

/** Opens a connection for each request, which is a new stream through the server. */
const requests = (port: number, rounds: number): Promise<number> =>
  medianOf(rounds, async () => {
    const answer = await answerOf(port, '/small');
    for await (const _ of answer);
  });

const agent = new Agent({ keepAlive: false });

async function answerOf(port: number, path: string): Promise<IncomingMessage> {
  const [answer] = (await once(httpGet({ host: '127.0.0.1', port, path, agent }), 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`GET ${path} through the forwarded port: ${answer.statusCode}`);
  return answer;
}
