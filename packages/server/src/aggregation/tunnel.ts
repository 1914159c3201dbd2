/**
 * Tunnels WebSocket and SPDY through the proxy: once the other server agrees, bytes flow both ways until one side closes. The connection is
 * never shared: data that a client puts on it must not be read as a request of another client.
 */

import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { badRequest } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { BatchWriter } from '../http/batch-writer.ts';
import type { Answer, ServerRequest, Upgrade } from '../http/message.ts';
import { batchTarget } from '../http/relay.ts';
import { DirectConnection } from '../outbound/direct-connection.ts';
import type { Receiver } from '../outbound/direct-connection.ts';
import { upgradeHeaders } from './answer-headers.ts';
import type { Upstream } from './connection-pool.ts';
import { withoutTokens } from './target.ts';

/** Timeout for the response of the other server. */
const answerTimeoutMs = 60_000;

/** It is ambiguous whether bytes after the head are a body or already the other protocol. Throws 400. */
export function insistOnNoBody(request: ServerRequest): void {
  const isEmpty = request.headerValues('content-length').every((length) => length === '0');
  if (!isEmpty || request.header('transfer-encoding') !== undefined) {
    throw badRequest('a request to upgrade the connection must not have a body');
  }
}

/** `refused` builds the response if the server does not switch the protocol. */
export async function tunnel(
  server: Upstream,
  request: ServerRequest,
  headers: OutgoingHttpHeaders,
  { upgrade, clock }: { upgrade: Upgrade; clock: Clock },
  refused: (response: IncomingMessage) => Answer,
): Promise<Answer> {
  const { method } = request;
  const target = withoutTokens(request.target);
  const asked = { ...headers, connection: 'Upgrade', upgrade: request.header('upgrade')! };
  const outgoing = await server.begin({ method, target, headers: asked, isAlone: true });
  const onGone = (): void => void outgoing.destroy();
  upgrade.socket.once('close', onGone);
  if (upgrade.socket.destroyed) onGone();
  outgoing.end();
  const timer = clock.after(answerTimeoutMs, () => outgoing.destroy(new Error('context deadline exceeded')));
  const { response, remote } = await opened(outgoing).finally(() => timer.cancel());
  if (!remote) return refused(response);
  upgrade.socket.off('close', onGone);
  return joined(upgrade, remote, response);
}

/** Returns the response that connects both sides until one of them closes. */
export const joined = (upgrade: Upgrade, remote: Duplex, response: IncomingMessage): Answer => ({
  status: 101,
  headers: {},
  body: { start: () => join(upgrade, remote, response) },
  isTaken: true,
});

interface Opened {
  readonly response: IncomingMessage;
  /** The upgraded connection; bytes that already arrived on it are unshifted. */
  readonly remote?: Duplex;
}

const opened = (outgoing: ClientRequest): Promise<Opened> =>
  new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.once('response', (response) => resolve({ response }));
    outgoing.once('upgrade', (response, remote, head) => {
      // Node.js removed its own listener: an error before the caller listens would end the process.
      remote.on('error', () => remote.destroy());
      if (head.length > 0) remote.unshift(head);
      resolve({ response, remote });
    });
  });

function join({ socket, head }: Upgrade, remote: Duplex, { rawHeaders, headers }: IncomingMessage): void {
  const direct = remote instanceof DirectConnection ? remote : undefined;
  const far = direct?.socket ?? remote;
  for (const side of [socket, far]) side.on('error', () => side.destroy());
  if (socket.destroyed) {
    far.destroy();
    return;
  }
  const lines = upgradeHeaders(rawHeaders, headers.upgrade ?? '').map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(Buffer.from(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1'));
  if (head.length > 0) far.write(head);
  if (direct) relay(direct, socket);
  else {
    // `pipe` ends the other half when one is finished.
    socket.pipe(remote);
    remote.pipe(socket);
  }
  socket.once('close', () => endSoon(far));
  far.once('close', () => endSoon(socket));
}

/** Does the same as `pipe` in both directions. */
function relay(remote: DirectConnection, socket: Duplex): void {
  const [toRemote, toClient] = [passer(socket, remote.socket), passer(remote.socket, socket)];
  socket.on('data', toRemote.data).once('end', toRemote.end);
  remote.receive(toClient);
}

function passer(from: Duplex, to: Duplex): Receiver {
  const writer = new BatchWriter(batchTarget(to), from);
  from.once('close', () => writer.flush());
  return {
    data: (bytes) => writer.append(bytes),
    end() {
      writer.flush();
      to.end();
    },
  };
}

/** Closes a side after flushing pending writes. */
function endSoon(side: Duplex): void {
  if (!side.destroyed) (side as Socket).destroySoon();
}
