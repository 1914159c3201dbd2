/**
 * One HTTP/2 connection to one gRPC server: calls with one answer (`unary`) and calls that stay open (`stream`). It
 * never reconnects and never retries; `channel.ts` does the first, the etcd client the second.
 */

import { connect, constants } from 'node:http2';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { asError, hasCode } from '@hangar/core';
import type { Clock, Transport } from '@hangar/core';
import { dial, refusesOurCertificate } from './endpoint.ts';
import type { Endpoint, TlsOptions } from './endpoint.ts';
import { MessageAssembler } from './framing.ts';
import { Keepalive } from './keepalive.ts';
import { errorOfHttpStatus, errorOfTrailers, grpcStatus, GrpcError } from './status.ts';

export interface ConnectionOptions {
  endpoint: Endpoint;
  tls: TlsOptions | undefined;
  transport: Transport;
  clock: Clock;
  /** For a connection that can take calls: the server must have spoken. */
  connectTimeoutMs: number;
  /** See `keepalive.ts`. */
  silenceMs: number;
  signal: AbortSignal;
}

export interface StreamHandler {
  onMessage(message: Buffer): void;
  /** Once, last; undefined: the server ended the call with success. */
  onEnd(error: GrpcError | undefined): void;
}

export interface CallOptions {
  timeoutMs?: number;
  metadata?: Record<string, string>;
}

/** So that a large message is not throttled to one window per round trip. */
const streamWindowBytes = 4 * 1024 * 1024;
const connectionWindowBytes = 16 * 1024 * 1024;
const sessionMemoryMiB = 512;

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** Rejects with a GrpcError whose fate is `unsent`. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { endpoint, clock } = options;
  const abort = new AbortController();
  const timer = clock.after(options.connectTimeoutMs, () => abort.abort(new Error('no answer in time')));
  const signal = AbortSignal.any([abort.signal, options.signal]);
  try {
    const socket = await dial({ ...options, signal });
    const session = connect(`${endpoint.secure ? 'https' : 'http'}://${endpoint.authority}`, {
      createConnection: () => socket,
      maxSessionMemory: sessionMemoryMiB,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    });
    await serverSpoke(session, socket, options.clock, signal);
    session.setLocalWindowSize(connectionWindowBytes);
    return new Connection(session, options);
  } catch (error) {
    const reason = hasCode(error, 'Aborted') ? asError(signal.reason) : asError(error);
    const status = refusesOurCertificate(reason) ? grpcStatus.unauthenticated : grpcStatus.unavailable;
    const message = `${endpoint.url} cannot be reached: ${reason.message || (reason as { code?: string }).code}`;
    throw new GrpcError(status, message, { fate: 'unsent', cause: error });
  } finally {
    timer.cancel();
  }
}

/** A stopped process still accepts connections (its kernel does): only the first frame from it says that it lives. */
function serverSpoke(session: ClientHttp2Session, socket: Duplex, clock: Clock, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (error: Error) => {
    reject(error);
    clock.soon(() => {
      session.destroy();
      socket.destroy();
    });
  };
  const onAbort = () => fail(asError(signal.reason));
  const onClose = () => fail(new Error('the server ended the connection at once'));
  // In TLS 1.3 a server refuses a certificate after the handshake: an error of the socket with which the session dies
  // silently. Both listeners stay for good; an error without a listener would be thrown.
  socket.on('error', fail);
  session.on('error', fail);
  session.once('close', onClose).once('remoteSettings', () => resolve());
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort);
    session.off('close', onClose);
  });
}

export class Connection {
  readonly endpoint: Endpoint;
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  readonly #keepalive: Keepalive;
  #retired = false;

  constructor(session: ClientHttp2Session, options: ConnectionOptions) {
    this.endpoint = options.endpoint;
    this.#session = session;
    this.#clock = options.clock;
    this.#keepalive = new Keepalive({
      clock: options.clock,
      silenceMs: options.silenceMs,
      answerMs: options.silenceMs,
      ping: (onAnswer) => this.#ping(onAnswer),
      giveUp: () => this.destroy(),
    });
    session.once('close', () => this.#keepalive.stop());
  }

  /** New calls may begin. */
  get usable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  /** `frame` is a whole gRPC message with its prefix. */
  unary(method: string, frame: Uint8Array, options: CallOptions & { timeoutMs: number }): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const call = this.#begin(method, options, {
        onMessage: (message) => (answer ??= message),
        onEnd: (error) => {
          timer.cancel();
          if (error) reject(error);
          else if (answer) resolve(answer);
          else reject(new GrpcError(grpcStatus.internal, `${method}: success without an answer`, { fate: 'lost' }));
        },
      });
      const timer = this.#clock.after(options.timeoutMs, () => call.fail(tooLate(method, options.timeoutMs)));
      call.end(frame);
    });
  }

  /** Throws a GrpcError when the connection is gone already. */
  stream(method: string, options: CallOptions, handler: StreamHandler): Call {
    return this.#begin(method, options, handler);
  }

  /** Takes no new calls and ends when those under way have ended. */
  retire(): void {
    this.#retired = true;
    this.#clock.soon(() => this.#session.destroyed || this.#session.close());
  }

  /**
   * Ends every call.
   *
   * Later, never at once: Node resets the session's streams right away, and when this happens while it hands over what
   * it just received (a promise that continues there is enough), nghttp2 goes on with a stream that was freed. Seen in
   * Node 26.10 as a corrupted heap.
   */
  destroy(): void {
    this.#retired = true;
    this.#clock.soon(() => this.#session.destroy());
  }

  #begin(method: string, options: CallOptions, handler: StreamHandler): Call {
    const headers: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':path': method,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'hangar',
      ...options.metadata,
    };
    if (options.timeoutMs !== undefined) headers['grpc-timeout'] = `${Math.max(1, Math.ceil(options.timeoutMs))}m`;
    try {
      if (this.usable) return new Call(this.#session.request(headers), handler, this.#keepalive);
    } catch (error) {
      throw this.#gone(error);
    }
    throw this.#gone();
  }

  #gone(cause?: unknown): GrpcError {
    const message = `the connection to ${this.endpoint.url} is gone`;
    return new GrpcError(grpcStatus.unavailable, message, { fate: 'unsent', cause });
  }

  #ping(onAnswer: () => void): void {
    if (this.#session.destroyed) return;
    try {
      this.#session.ping((error) => {
        if (!error) onAnswer();
      });
    } catch {
      // The session ended in between: its calls learn of that by themselves.
    }
  }
}

/** One call under way. */
export class Call {
  readonly #stream: ClientHttp2Stream;
  readonly #handler: StreamHandler;
  readonly #keepalive: Keepalive;
  readonly #assembler = new MessageAssembler();
  /** What the server said at the end; without `error`: success. */
  #verdict: { error?: GrpcError | undefined } | undefined;
  #cause: Error | undefined;
  #ended = false;

  constructor(stream: ClientHttp2Stream, handler: StreamHandler, keepalive: Keepalive) {
    this.#stream = stream;
    this.#handler = handler;
    this.#keepalive = keepalive;
    keepalive.callBegan();
    stream.on('response', (headers) => this.#onResponse(headers));
    stream.on('data', (chunk: Buffer) => this.#onData(chunk));
    stream.on('trailers', (trailers) => this.#onTrailers(trailers));
    stream.on('end', () => this.#verdict && this.#finish());
    stream.on('error', (error: Error) => (this.#cause = error));
    stream.on('close', () => this.#finish());
  }

  write(frame: Uint8Array): void {
    if (!this.#ended) this.#stream.write(frame);
  }

  /** The last message from this side. */
  end(frame: Uint8Array): void {
    if (!this.#ended) this.#stream.end(frame);
  }

  cancel(): void {
    this.fail(new GrpcError(grpcStatus.cancelled, 'cancelled', { fate: 'lost' }));
  }

  fail(error: GrpcError): void {
    this.#verdict = { error };
    this.#finish();
    this.#stream.close(NGHTTP2_CANCEL);
  }

  #onResponse(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    this.#keepalive.heard();
    if (headers[':status'] !== 200) this.fail(errorOfHttpStatus(headers[':status'] ?? 0));
    else if (headers['grpc-status'] !== undefined) this.#onTrailers(headers); // a failure without an answer
  }

  #onTrailers(trailers: IncomingHttpHeaders): void {
    const status = trailers['grpc-status'] as string | undefined;
    this.#verdict ??= { error: errorOfTrailers(status, trailers['grpc-message'] as string | undefined) };
  }

  #onData(chunk: Buffer): void {
    this.#keepalive.heard();
    if (this.#ended) return;
    try {
      this.#assembler.push(chunk, (message) => {
        if (!this.#ended) this.#handler.onMessage(message);
      });
    } catch (error) {
      if (error instanceof GrpcError) this.fail(error);
      else if (hasCode(error, 'MalformedMessage')) {
        this.fail(new GrpcError(grpcStatus.internal, error.message, { fate: 'lost', cause: error }));
      } else throw error;
    }
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#keepalive.callEnded();
    const verdict = this.#verdict ?? { error: this.#lost() };
    if (!verdict.error && !this.#assembler.empty) {
      verdict.error = new GrpcError(grpcStatus.internal, 'the answer ends inside a message', { fate: 'lost' });
    }
    this.#handler.onEnd(verdict.error);
  }

  /** The stream ended without a word from the server. */
  #lost(): GrpcError {
    const { rstCode, pending } = this.#stream;
    const unsent = pending || rstCode === NGHTTP2_REFUSED_STREAM;
    const reason = this.#cause?.message ?? (rstCode === NGHTTP2_NO_ERROR ? 'it ended' : `HTTP/2 code ${rstCode}`);
    const options = { fate: unsent ? 'unsent' : 'lost', cause: this.#cause } as const;
    return new GrpcError(grpcStatus.unavailable, `the connection broke during the call: ${reason}`, options);
  }
}

function tooLate(method: string, timeoutMs: number): GrpcError {
  const message = `${method}: no answer within ${Math.ceil(timeoutMs)} ms`;
  return new GrpcError(grpcStatus.deadlineExceeded, message, { fate: 'lost' });
}
