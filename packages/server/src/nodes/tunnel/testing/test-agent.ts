/**
 * An agent written for tests, on Node's own HTTP/2 client. It sends any packets, and serves dials only with `serves`.
 */

import { once } from 'node:events';
import { connect } from 'node:http2';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  SecureClientSessionOptions,
} from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { MessageAssembler } from '@hangar/http2/grpc';
import { serving } from '../../../http/testing/test-port.ts';
import { closeResponse, dataPacket, decodePacket, dialResponse, packetType } from '../packets.ts';
import type { Packet } from '../packets.ts';

export interface TestAgentOptions {
  readonly host?: string;
  readonly port: number;
  readonly id?: string;
  readonly identifiers?: string;
  readonly token?: string;
  /** CA of the port, and a client certificate. */
  readonly tls?: SecureClientSessionOptions;
  /** Replaces the targets of dials, by their addresses. */
  readonly routes?: ReadonlyMap<string, number>;
  /** Connects to the target of each dial, as the real agent does. */
  readonly serves?: boolean;
}

export class TestAgent implements Disposable {
  readonly stream: ClientHttp2Stream;
  /** All packets from the server, in order; data is copied. */
  readonly packets: Packet[] = [];
  trailers: IncomingHttpHeaders = {};
  head: IncomingHttpHeaders = {};
  readonly #session: ClientHttp2Session;
  readonly #sockets = new Map<number, Socket>();
  readonly #routes: ReadonlyMap<string, number>;
  #waiting: (() => void)[] = [];
  #nextId = 1;

  private constructor(session: ClientHttp2Session, stream: ClientHttp2Stream, { serves, routes }: TestAgentOptions) {
    this.#routes = routes ?? new Map();
    this.#session = session;
    this.stream = stream;
    const assembler = new MessageAssembler();
    stream.on('data', (chunk: Buffer) => {
      if (Number(this.head[':status']) !== 200) return;
      assembler.push(chunk, (message) => {
        const packet = decodePacket(message);
        this.packets.push({ ...packet, data: Buffer.from(packet.data) });
        if (serves) this.#serve(packet);
        this.#notify();
      });
    });
    stream.once('response', (head) => (this.head = head));
    stream.on('trailers', (trailers) => (this.trailers = trailers));
    stream.on('close', () => this.#notify());
    stream.on('error', () => {});
    session.on('error', () => {});
  }

  static async open(options: TestAgentOptions): Promise<TestAgent> {
    const { port, id = 'agent-1', identifiers = '', token = 'agent', tls } = options;
    const { host = '127.0.0.1' } = options;
    const session = connect(`https://${host}:${port}`, { ca: serving.certificate, ...tls });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/AgentService/Connect',
      'content-type': 'application/grpc',
      te: 'trailers',
      agentid: id,
      agentidentifiers: identifiers,
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    });
    const agent = new TestAgent(session, stream, options);
    await once(stream, 'response');
    return agent;
  }

  send(...packets: Uint8Array[]): void {
    this.stream.write(Buffer.concat(packets));
  }

  /** Resolves with the first packet that `is` accepts, also with one that was received before. */
  async packet(is: (packet: Packet) => boolean): Promise<Packet> {
    for (;;) {
      const found = this.packets.find(is);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves with the dial of this address. */
  dialOf(address: string): Promise<Packet> {
    return this.packet((packet) => packet.type === packetType.dialRequest && packet.address === address);
  }

  /** Resolves when the server has ended the stream. Returns the gRPC status and its message. */
  async ended(): Promise<{ status: string; message: string }> {
    this.stream.resume();
    if (!this.stream.closed) await once(this.stream, 'close');
    const { 'grpc-status': status = '', 'grpc-message': message = '' } = { ...this.head, ...this.trailers };
    return { status: String(status), message: decodeURIComponent(String(message)) };
  }

  #serve({ type, address, random, connectId, data }: Packet): void {
    if (type === packetType.dialRequest) this.#connect(address, random);
    else if (type === packetType.data) this.#sockets.get(connectId)?.write(Buffer.from(data));
    else if (type === packetType.closeRequest) this.#sockets.get(connectId)?.destroy();
  }

  #connect(address: string, random: number): void {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address)!;
    const local = this.#routes.get(address);
    const socket = local === undefined ? connectTcp(Number(port), host) : connectTcp(local, '127.0.0.1');
    const connectId = this.#nextId++;
    socket.once('connect', () => {
      this.#sockets.set(connectId, socket);
      this.send(dialResponse({ random, connectId }));
      socket.once('close', () => this.send(closeResponse(connectId)));
    });
    socket.on('data', (chunk: Buffer) => {
      if (this.stream.write(dataPacket(connectId, chunk))) return;
      socket.pause();
      this.stream.once('drain', () => socket.resume());
    });
    socket.on('error', (error) => {
      if (!this.#sockets.has(connectId)) this.send(dialResponse({ random, error: error.message }));
    });
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Ends the connection abruptly. */
  [Symbol.dispose](): void {
    for (const socket of this.#sockets.values()) socket.destroy();
    this.#session.destroy();
  }
}
