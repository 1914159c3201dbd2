/** `POST /portForward/<namespace>/<pod>`: each pair of streams is one connection to a port of the pod. */

import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SpdyServerConnection } from '@hangar/http2/spdy';
import type { SpdyServerStream } from '@hangar/http2/spdy';
import type { Clock, Timer } from '@hangar/core';

export const portForwardProtocol = 'portforward.k8s.io';

export interface PortForwardOptions {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly podName: string;
  readonly podIP: string;
  readonly clock: Clock;
}

/** Time between the two streams of a connection, as in the kubelet. */
const pairTimeoutMs = 30_000;

interface Pair {
  readonly timer: Timer;
  error?: SpdyServerStream;
  data?: { readonly stream: SpdyServerStream; readonly link: DataLink };
}

export function forwardPorts({ socket, head, podName, podIP, clock }: PortForwardOptions): void {
  const pairs = new Map<string, Pair>();
  const links = new Set<DataLink>();
  const connection: SpdyServerConnection = new SpdyServerConnection({
    socket,
    head,
    onStream(stream) {
      const { streamtype: type, port = '', requestid: request = '0' } = stream.headers;
      const number = Number(port);
      if (!(Number.isInteger(number) && number > 0 && number < 65_536)) return undefined;
      const key = `${port} ${request}`;
      let pair = pairs.get(key);
      if (!pair) {
        const timer = clock.after(pairTimeoutMs, () => pairs.delete(key));
        pairs.set(key, (pair = { timer }));
      }
      const link = type === 'data' ? new DataLink(stream, connection) : undefined;
      if (link) {
        pair.data = { stream, link };
        links.add(link);
      } else if (type === 'error') {
        pair.error = stream;
      } else {
        return undefined;
      }
      const { error, data } = pair;
      if (error && data) {
        pair.timer.cancel();
        pairs.delete(key);
        data.link.connect(podIP, number, (reason) => {
          links.delete(data.link);
          if (reason !== undefined) {
            error.write(Buffer.from(`error forwarding port ${number} to pod ${podName}: ${reason}`));
          }
          error.finish();
        });
      }
      return link ?? { data: () => {}, end: () => {} };
    },
    onClose() {
      for (const { timer } of pairs.values()) timer.cancel();
      for (const link of links) link.close();
    },
  });
  connection.onDrain(() => {
    for (const link of links) link.resume();
  });
}

/** Connects a data stream with a socket. Data that arrives before the connection is established is kept by the socket. */
class DataLink {
  readonly #stream: SpdyServerStream;
  readonly #connection: SpdyServerConnection;
  #socket: Socket | undefined;
  #early: Buffer[] = [];
  #isEnded = false;

  constructor(stream: SpdyServerStream, connection: SpdyServerConnection) {
    this.#stream = stream;
    this.#connection = connection;
  }

  /** `onEnd` is called once, with the reason of a failure. */
  connect(host: string, port: number, onEnd: (failure: string | undefined) => void): void {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    this.#socket = socket;
    let failure: string | undefined;
    socket.on('error', (error) => (failure = error.message));
    socket.on('data', (piece: Buffer) => {
      if (!this.#stream.write(piece)) socket.pause();
    });
    socket.once('end', () => this.#stream.finish());
    socket.on('drain', () => this.#connection.resume());
    socket.once('close', () => {
      if (failure !== undefined) this.#stream.finish();
      onEnd(failure);
    });
    for (const piece of this.#early.splice(0)) socket.write(piece);
    if (this.#isEnded) socket.end();
  }

  data(piece: Buffer): void {
    const copy = Buffer.from(piece);
    if (!this.#socket) this.#early.push(copy);
    else if (!this.#socket.destroyed && !this.#socket.write(copy)) this.#connection.pause();
  }

  end(): void {
    this.#isEnded = true;
    this.#socket?.end();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(): void {
    this.#socket?.destroy();
  }
}
