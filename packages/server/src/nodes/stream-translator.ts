/**
 * Translates `v5.channel.k8s.io` of a client to SPDY of a kubelet that does not support WebSockets. As in kube-apiserver, the client's
 * connection is switched first, and errors are sent as a Status on the error channel.
 */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { asError } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { beginningOf } from './beginning.ts';
import type { Answer, Upgrade } from '../http/message.ts';
import type { Call } from '../verbs/call.ts';
import { authority, exchange } from './backend-exchange.ts';
import type { BackendAnswer } from './backend-exchange.ts';
import { exitStatus, failure } from './exit-status.ts';
import { spdyHeaders } from './forwarded-headers.ts';
import type { NodeStream } from './node-access.ts';
import type { Backend } from './node-connections.ts';
import { SpdyConnection } from '@hangar/http2/spdy';
import { WebSocketConnection } from './websocket/connection.ts';
import { switchingHead } from './websocket/handshake.ts';

export const streamCloseProtocol = 'v5.channel.k8s.io';

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
const closeSignal = 255;
const spdyProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
/** As in kube-apiserver. */
const idleTimeoutMs = 4 * 3_600_000;
const answerTimeoutMs = 60_000;
const errorBytesMax = 64 * 1024;

export interface RemoteStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Throws 400 if the request is not a valid handshake, 429 beyond the limit of streams. */
export function translated(
  call: Call,
  kubelet: Backend,
  target: string,
  { upgrade, streams }: { upgrade: Upgrade; streams: RemoteStreams },
): Answer {
  const head = switchingHead(call.request, streamCloseProtocol);
  const stream = call.plane.nodes.begin();
  return {
    status: 101,
    headers: {},
    isTaken: true,
    body: {
      start(sink) {
        const client = new WebSocketConnection(upgrade, call.plane.clock);
        client.writeHead(head);
        const translation = new Translation(call, client, { streams, stream });
        sink.onClose(() => translation.close());
        void translation.run(kubelet, target);
      },
    },
  };
}

class Translation {
  readonly #call: Call;
  readonly #client: WebSocketConnection;
  readonly #streams: RemoteStreams;
  readonly #stream: NodeStream;
  #kubelet: SpdyConnection | undefined;
  #answered: BackendAnswer | undefined;
  #idle: Timer | undefined;
  #lastMs: number;
  #isClosed = false;
  /** Number of streams of the kubelet that must end before the result is known. */
  #open = 0;
  #error = Buffer.alloc(0);
  #hasError = false;
  #stdin: number | undefined;
  #resize: number | undefined;
  /** Channel of the current message; undefined before its first byte. */
  #channel: number | undefined;

  constructor(call: Call, client: WebSocketConnection, given: { streams: RemoteStreams; stream: NodeStream }) {
    this.#call = call;
    this.#client = client;
    this.#streams = given.streams;
    this.#stream = given.stream;
    this.#lastMs = call.plane.clock.monotonicMs();
  }

  async run(kubelet: Backend, target: string): Promise<void> {
    const { stdout, stderr } = this.#streams;
    // As in kube-apiserver, an empty message shows that the connection is established.
    this.#client.send(Buffer.from([stdout ? channels.stdout : stderr ? channels.stderr : channels.error]));
    try {
      const headers = { ...spdyHeaders(this.#call.request, spdyProtocols), host: authority(kubelet) };
      const request = { method: 'POST', target, headers, isAlone: true };
      const answered = await exchange(this.#call, kubelet, request, { answerTimeoutMs, stream: this.#stream });
      this.#answered = answered;
      if (this.#isClosed) return this.close();
      if (!answered.upgraded) throw new Error(`unable to upgrade connection: ${await textOf(answered.response)}`);
      this.#connect(answered.upgraded, answered.response);
    } catch (error) {
      this.#conclude(failure(asError(error).message));
    }
  }

  #connect(socket: Duplex, { headers }: IncomingMessage): void {
    const hasStatus = String(headers['x-stream-protocol-version'] ?? '').startsWith('v4.');
    const kubelet = new SpdyConnection(socket, () => this.#lost());
    this.#kubelet = kubelet;
    const { stdin, stdout, stderr, tty } = this.#streams;
    this.#open = 1;
    const finished = (): void => {
      if (--this.#open === 0) this.#conclude(exitStatus(this.#error.toString(), hasStatus));
    };
    kubelet.open({ streamtype: 'error' }, { data: (piece) => this.#appendError(piece), end: finished });
    if (stdin) this.#stdin = kubelet.open({ streamtype: 'stdin' }, { data: () => {}, end: () => {} });
    if (stdout) {
      this.#open++;
      kubelet.open({ streamtype: 'stdout' }, { data: (piece) => this.#output(channels.stdout, piece), end: finished });
    }
    if (stderr && !tty) {
      this.#open++;
      kubelet.open({ streamtype: 'stderr' }, { data: (piece) => this.#output(channels.stderr, piece), end: finished });
    }
    if (tty) this.#resize = kubelet.open({ streamtype: 'resize' }, { data: () => {}, end: () => {} });
    kubelet.onDrain(() => this.#client.resume());
    this.#client.onDrain(() => kubelet.resume());
    this.#client.read(
      (piece, position) => this.#input(piece, position),
      () => this.close(),
    );
    this.#watchIdle();
  }

  #output(channel: number, piece: Buffer): void {
    this.#active();
    if (!this.#client.send(Buffer.from([channel]), piece)) this.#kubelet!.pause();
  }

  #input(piece: Buffer, { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): void {
    this.#active();
    let data = piece;
    if (isFirst) {
      this.#channel = piece[0];
      data = piece.subarray(1);
    }
    if (this.#channel === closeSignal) {
      if (data[0] === channels.stdin && this.#stdin !== undefined) {
        this.#kubelet!.finish(this.#stdin);
        this.#stdin = undefined;
      }
    } else {
      const id =
        this.#channel === channels.stdin ? this.#stdin : this.#channel === channels.resize ? this.#resize : undefined;
      if (id !== undefined && !this.#kubelet!.write(id, data)) this.#client.pause();
    }
    if (isLast) this.#channel = undefined;
  }

  #appendError(piece: Buffer): void {
    this.#hasError = true;
    this.#error = Buffer.concat([this.#error, piece]).subarray(0, errorBytesMax);
  }

  /** The kubelet closed the connection before all streams ended. */
  #lost(): void {
    if (this.#isClosed) return;
    if (this.#hasError) this.#conclude(exitStatus(this.#error.toString(), true));
    else this.#conclude(failure('error reading from error stream: unexpected EOF'));
  }

  /** Sends the result, and closes both connections. */
  #conclude(status: object): void {
    if (this.#isClosed) return;
    this.#client.send(Buffer.from([channels.error]), Buffer.from(JSON.stringify(status)));
    this.#client.close();
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#idle?.cancel();
    this.#client.close();
    this.#kubelet?.close();
    this.#answered?.upgraded?.destroy();
    this.#answered?.response.destroy();
    this.#stream.end();
  }

  #active(): void {
    this.#lastMs = this.#call.plane.clock.monotonicMs();
  }

  #watchIdle(): void {
    const { clock } = this.#call.plane;
    const leftMs = this.#lastMs + idleTimeoutMs - clock.monotonicMs();
    if (leftMs <= 0) return this.close();
    this.#idle = clock.after(leftMs, () => this.#watchIdle());
  }
}

const textOf = async (response: IncomingMessage): Promise<string> =>
  (await beginningOf(response, errorBytesMax)).trim();
