/** One request to a kubelet, a pod or a service: counted, ended with the client or the control plane, and limited in time. */

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { DirectConnection } from '../outbound/direct-connection.ts';
import { OutboundError, outboundError } from '../outbound/errors.ts';
import type { ServerRequest } from '../http/message.ts';
import type { Call } from '../verbs/call.ts';
import type { NodeStream } from './node-access.ts';
import type { Backend, BackendRequest } from './node-connections.ts';

export interface BackendAnswer {
  readonly response: IncomingMessage;
  /** The upgraded connection; bytes that already arrived on it are unshifted. */
  readonly upgraded?: Duplex;
  /** The connection has the body in the chunked transfer coding, and the caller has to read it there. Absent: `response` is the body. */
  readonly chunked?: DirectConnection;
  /** Ends the count of the stream. The caller calls it when the response ends. */
  readonly end: () => void;
}

export interface ExchangeOptions {
  /** Time limit of the head of the response. Absent: until the client disconnects. */
  readonly answerTimeoutMs?: number | undefined;
  /** Writes the body of the request and ends it. Absent: no body. */
  readonly send?: (outgoing: ClientRequest) => void;
  /** The stream that is counted already. Absent: a new one. */
  readonly stream?: NodeStream;
}

/**
 * Sends a request and returns the head of the response. Rejects with 429 beyond the limit of streams, or with an OutboundError. When the
 * control plane closes, the connection is destroyed.
 */
export async function exchange(
  call: Call,
  backend: Backend,
  request: BackendRequest,
  {
    answerTimeoutMs,
    send = (outgoing) => void outgoing.end(),
    stream = call.plane.nodes.begin(),
  }: ExchangeOptions = {},
): Promise<BackendAnswer> {
  const { nodes, clock } = call.plane;
  // The request waits for another machine: the seat in the fair queue is for requests that use this one.
  call.leaveQueue?.();
  const opening = new AbortController();
  const outgoing = begun(() => nodes.connections.begin(backend, { ...request, signal: opening.signal }), stream);
  // A request without a connection emits no error when it is destroyed.
  let giveUp: (error: OutboundError) => void = () => {};
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = (error) => {
      reject(error);
      opening.abort();
      outgoing.destroy(error);
    };
  });
  givenUp.catch(() => {});
  const onAbort = (): void => giveUp(closing());
  stream.signal.addEventListener('abort', onAbort, { once: true });
  if (stream.signal.aborted) onAbort();
  const stay = onClientGone(call.request, () => giveUp(gone()));
  const timer = answerTimeoutMs === undefined ? undefined : clock.after(answerTimeoutMs, () => giveUp(tooSlow()));
  const end = endOf(stream, onAbort);
  try {
    send(outgoing);
    const { response, upgraded, chunked } = await Promise.race([headOf(outgoing), givenUp]);
    outgoing.on('error', () => {});
    response.on('error', () => response.destroy());
    if (upgraded) stream.signal.addEventListener('abort', () => upgraded.destroy(), { once: true });
    if (upgraded && !request.headers['upgrade']) {
      upgraded.destroy();
      throw unexpectedSwitch();
    }
    if (stream.signal.aborted) throw closing();
    return { response, ...(upgraded ? { upgraded } : {}), ...(chunked ? { chunked } : {}), end };
  } catch (error) {
    end();
    outgoing.on('error', () => {}).destroy();
    throw outboundError(error);
  } finally {
    timer?.cancel();
    stay();
  }
}

/** The head may contain characters that cannot be sent, for example from the address of a Node. Then `begin` throws. */
function begun(begin: () => ClientRequest, stream: NodeStream): ClientRequest {
  try {
    return begin();
  } catch (error) {
    stream.end();
    throw outboundError(error);
  }
}

const endOf = (stream: NodeStream, onAbort: () => void) => (): void => {
  stream.signal.removeEventListener('abort', onAbort);
  stream.end();
};

/** Calls back when the client disconnects before it has a response. */
function onClientGone({ passing }: ServerRequest, callback: () => void): () => void {
  const socket = passing?.upgrade?.socket;
  return socket ? onSocketGone(socket, callback) : (passing?.onGone?.(callback) ?? (() => {}));
}

/** The end of a socket is only detected while the socket is read. Bytes that arrive stay in its buffer. */
function onSocketGone(socket: Duplex, callback: () => void): () => void {
  const onReadable = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  if (socket.destroyed) callback();
  socket.on('readable', onReadable).once('end', callback).once('close', callback);
  return () => void socket.off('readable', onReadable).off('end', callback).off('close', callback);
}

const headOf = (outgoing: ClientRequest): Promise<Omit<BackendAnswer, 'end'>> =>
  new Promise((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response) => resolve({ response, ...chunkedBody(response) }));
    // This head is not the one of the response, so the body cannot be read directly.
    outgoing.on('information', () => {
      const { socket } = outgoing as { socket: Duplex | null };
      if (socket instanceof DirectConnection) socket.passBody();
    });
    outgoing.once('upgrade', (response, upgraded, head) => {
      // Node.js removed its own listener: an error before the caller listens would end the process.
      upgraded.on('error', () => upgraded.destroy());
      if (head.length > 0) upgraded.unshift(head);
      resolve({ response, upgraded });
    });
  });

function chunkedBody(response: IncomingMessage): { chunked?: DirectConnection } {
  const socket: Duplex = response.socket;
  if (!(socket instanceof DirectConnection)) return {};
  const isChunked = response.headers['transfer-encoding'] === 'chunked';
  if (socket.isBodyHeld && response.statusCode === 200 && isChunked) return { chunked: socket };
  socket.passBody();
  return {};
}

const closing = (): OutboundError => new OutboundError('Aborted', 'the control plane is closing');
const gone = (): OutboundError => new OutboundError('Aborted', 'context canceled');
const unexpectedSwitch = (): OutboundError =>
  new OutboundError('Unreachable', 'net/http: the backend switched the protocol without a request for it');
const tooSlow = (): OutboundError => new OutboundError('Timeout', 'net/http: timeout awaiting response headers');

/** `host:port` as in URLs. */
export const authority = ({ host, port }: Backend): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
