/** A gRPC server in the test's process that sends exactly what the test specifies, valid or invalid. */

import { constants, createServer } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { MessageAssembler } from '@hangar/http2/grpc';
import { framed } from './etcd-proto.ts';

export class ScriptedCall {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly stream: ServerHttp2Stream;
  /** Called for each message of the client. */
  onMessage: (message: Buffer) => void = () => {};
  readonly #assembler = new MessageAssembler();
  #responded = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.stream = stream;
    this.headers = headers;
    this.method = headers[':path'] as string;
    stream.on('error', () => {}); // the client may reset it
    stream.on('data', (chunk: Buffer) => this.#assembler.push(chunk, (message) => this.onMessage(message)));
  }

  send(message: Uint8Array): void {
    this.respond();
    this.stream.write(framed(message));
  }

  respond(headers: Record<string, string | number> = {}): void {
    if (this.#responded || this.stream.destroyed) return;
    this.#responded = true;
    this.stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...headers }, { waitForTrailers: true });
    this.stream.on('wantTrailers', () => this.stream.sendTrailers({ 'grpc-status': this.#status, ...this.#message }));
  }

  /** Ends the call with a status, after all sent messages. */
  end(status = 0, message?: string): void {
    this.#status = String(status);
    if (message !== undefined) this.#message = { 'grpc-message': message };
    this.respond();
    this.stream.end();
  }

  /** Sends headers only, as gRPC servers do for a failure without a message. */
  refuse(status: number, message: string): void {
    const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) };
    this.stream.respond({ ...headers, 'grpc-message': message }, { endStream: true });
  }

  reset(code: number = constants.NGHTTP2_INTERNAL_ERROR): void {
    this.stream.close(code);
  }

  /** Breaks the whole connection; deferred for the reason given at `Connection.destroy`. */
  cut(): void {
    setImmediate(() => this.stream.session?.destroy());
  }

  /** Sends one answer and success. */
  answer(message: Uint8Array): void {
    this.send(message);
    this.end();
  }

  #status = '0';
  #message: Record<string, string> = {};
}

export interface ScriptedServer {
  readonly url: string;
  readonly sessions: Set<ServerHttp2Session>;
  /** Replaces the handler of new calls. */
  onCall(script: (call: ScriptedCall) => void): void;
}

/** Closed with the test. */
export async function scriptedServer(
  context: TestContext,
  script: (call: ScriptedCall) => void,
): Promise<ScriptedServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => script(new ScriptedCall(stream as ServerHttp2Stream, headers)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    onCall: (next) => (script = next),
  };
}
