/**
 * One HTTP/2 connection to one gRPC server: calls with one answer (`unary`) and calls that stay open (`stream`). It
 * never reconnects and never retries; `channel.ts` does the first, the etcd client the second.
 */

import type { Duplex } from 'node:stream';
import { asError, hasCode } from '@hangar/core';
import type { Clock, Timer, Transport } from '@hangar/core';
import { encodedField, encodedPseudoField, errorCode } from '@hangar/http2';
import type { Field } from '@hangar/http2';
import { ClientSession } from '@hangar/http2/client';
import type { ClientStream, StreamEnd } from '@hangar/http2/client';
import { errorOfHttpStatus, errorOfTrailers, GrpcError, grpcStatus, MessageAssembler } from '@hangar/http2/grpc';
import { dial, refusesOurCertificate } from './endpoint.ts';
import type { Endpoint, TlsOptions } from './endpoint.ts';
import { Keepalive } from './keepalive.ts';

export interface ConnectionOptions {
  endpoint: Endpoint;
  tls: TlsOptions | undefined;
  transport: Transport;
  clock: Clock;
  /** Time limit for a usable connection, including the first frame from the server. */
  connectTimeoutMs: number;
  /** See `keepalive.ts`. */
  silenceMs: number;
  signal: AbortSignal;
}

export interface StreamHandler {
  onMessage(message: Buffer): void;
  /** The server may send more only after `consumed`, for readers that do not read everything at once. Absent: no. */
  readonly isPaced?: boolean;
  /** Called once, last. Undefined: the server completed the call with success. */
  onEnd(error: GrpcError | undefined): void;
}

export interface CallOptions {
  timeoutMs?: number;
  metadata?: Record<string, string>;
}

/** Large enough that a large message is not throttled to one window per round trip. */
const streamWindowBytes = 4 * 1024 * 1024;
const connectionWindowBytes = 16 * 1024 * 1024;
/** Rejects with a GrpcError whose fate is `unsent`. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { endpoint, clock } = options;
  const abort = new AbortController();
  const timer = clock.after(options.connectTimeoutMs, () => abort.abort(new Error('timed out waiting for the server')));
  const signal = AbortSignal.any([abort.signal, options.signal]);
  try {
    const socket = await dial({ ...options, signal });
    return await connectionOn(socket, options, signal);
  } catch (error) {
    const reason = hasCode(error, 'Aborted') ? asError(signal.reason) : asError(error);
    const status = refusesOurCertificate(reason) ? grpcStatus.unauthenticated : grpcStatus.unavailable;
    const message = `${endpoint.url} cannot be reached: ${reason.message || (reason as { code?: string }).code}`;
    throw new GrpcError(status, message, { fate: 'unsent', cause: error });
  } finally {
    timer.cancel();
  }
}

/** A stopped process still accepts connections in its kernel: only its first frame proves that it is running. */
function connectionOn(socket: Duplex, options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const session = new ClientSession(socket, {
    clock: options.clock,
    streamWindowBytes,
    connectionWindowBytes,
    onReady: () => resolve(connection),
    // In TLS 1.3 a server refuses a certificate after the handshake.
    onClose(error) {
      connection.closed();
      reject(error ?? new Error('the server closed the connection immediately'));
    },
  });
  const connection = new Connection(session, options);
  const onAbort = () => session.destroy(asError(signal.reason));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}

export class Connection {
  readonly endpoint: Endpoint;
  readonly #session: ClientSession;
  readonly #clock: Clock;
  readonly #keepalive: Keepalive;
  /** Headers that all calls begin with. Pseudo-headers come first, and the path is the last of them. */
  readonly #head: string;
  #retired = false;

  constructor(session: ClientSession, options: ConnectionOptions) {
    this.endpoint = options.endpoint;
    this.#session = session;
    this.#clock = options.clock;
    this.#head = headOf(options.endpoint);
    this.#keepalive = new Keepalive({
      clock: options.clock,
      silenceMs: options.silenceMs,
      answerMs: options.silenceMs,
      ping: (onAnswer) => this.#session.ping(onAnswer),
      giveUp: () => this.destroy(),
    });
  }

  /** Reports whether new calls may begin. */
  get usable(): boolean {
    return !this.#retired && this.#session.isOpen;
  }

  /** `frame` is a whole gRPC message with its prefix. */
  unary(method: string, frame: Uint8Array, options: CallOptions & { timeoutMs: number }): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      let timer: Timer | undefined;
      const call = this.#begin(method, options, {
        onMessage: (message) => (answer ??= message),
        onEnd: (error) => {
          timer?.cancel();
          if (error) reject(error);
          else if (answer) resolve(answer);
          else
            reject(
              new GrpcError(grpcStatus.internal, `${method}: status OK without a response message`, { fate: 'lost' }),
            );
        },
      });
      timer = this.#clock.after(options.timeoutMs, () => call.fail(tooLate(method, options.timeoutMs)));
      call.end(frame);
    });
  }

  /** Throws a GrpcError if the connection is already closed. */
  stream(method: string, options: CallOptions, handler: StreamHandler): Call {
    return this.#begin(method, options, handler);
  }

  /** Accepts no new calls, and closes when those in progress have completed. */
  retire(): void {
    this.#retired = true;
    this.#session.close();
  }

  /** Fails every call. */
  destroy(): void {
    this.#retired = true;
    this.#session.destroy(undefined);
  }

  /** Called when the session has closed. */
  closed(): void {
    this.#keepalive.stop();
  }

  #begin(method: string, options: CallOptions, handler: StreamHandler): Call {
    if (!this.usable) throw this.#gone();
    let block = this.#head + encodedPseudoField(':path', method) + commonFields;
    if (options.timeoutMs !== undefined) {
      block += encodedField('grpc-timeout', `${Math.max(1, Math.ceil(options.timeoutMs))}m`);
    }
    for (const [name, value] of Object.entries(options.metadata ?? {})) block += encodedField(name, value);
    return new Call(this.#session, block, handler, this.#keepalive);
  }

  #gone(): GrpcError {
    const message = `the connection to ${this.endpoint.url} is gone`;
    return new GrpcError(grpcStatus.unavailable, message, { fate: 'unsent' });
  }
}

/** One call in progress. */
export class Call {
  readonly #stream: ClientStream;
  readonly #handler: StreamHandler;
  readonly #keepalive: Keepalive;
  readonly #assembler = new MessageAssembler();
  /** Final status from the server; without `error`: success. */
  #verdict: { error?: GrpcError | undefined } | undefined;
  #hasHead = false;
  #ended = false;

  constructor(session: ClientSession, block: string, handler: StreamHandler, keepalive: Keepalive) {
    this.#handler = handler;
    this.#keepalive = keepalive;
    keepalive.callBegan();
    this.#stream = session.request(block, {
      isPaced: handler.isPaced ?? false,
      onHead: (fields) => this.#onHead(fields),
      onData: (chunk) => this.#onData(chunk),
      onEnd: (end) => this.#finish(end),
    });
  }

  write(frame: Uint8Array): void {
    if (!this.#ended) this.#stream.write(frame);
  }

  /** Sends the last message from this side. */
  end(frame: Uint8Array): void {
    if (!this.#ended) this.#stream.end(frame);
  }

  /** Called when this many bytes of messages, each with its prefix, have been read, if the call is paced. */
  consumed(bytes: number): void {
    this.#stream.consumed(bytes);
  }

  cancel(): void {
    this.fail(new GrpcError(grpcStatus.cancelled, 'cancelled', { fate: 'lost' }));
  }

  fail(error: GrpcError): void {
    this.#verdict = { error };
    this.#stream.reset(errorCode.cancel);
  }

  /** Handles the head, then the trailers. A failure without a body has both in one. */
  #onHead(fields: readonly Field[]): void {
    this.#keepalive.heard();
    const status = Number(valueOf(fields, ':status') ?? 0);
    // An informational response before the answer.
    if (!this.#hasHead && status >= 100 && status < 200) return;
    if (!this.#hasHead && status !== 200) return this.fail(errorOfHttpStatus(status));
    this.#hasHead = true;
    const grpc = valueOf(fields, 'grpc-status');
    if (grpc !== undefined) this.#verdict ??= { error: errorOfTrailers(grpc, valueOf(fields, 'grpc-message')) };
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

  #finish(end: StreamEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#keepalive.callEnded();
    const verdict = this.#verdict ?? { error: end.isWhole ? errorOfTrailers(undefined, undefined) : lost(end) };
    if (!verdict.error && !this.#assembler.empty) {
      verdict.error = new GrpcError(grpcStatus.internal, 'the response ends inside a message', { fate: 'lost' });
    }
    this.#handler.onEnd(verdict.error);
  }
}

const valueOf = (fields: readonly Field[], name: string): string | undefined =>
  fields.find((field) => field.name === name)?.value;

/** Error of a stream that closed without a status from the server. */
function lost({ isUnsent, error, code }: StreamEnd): GrpcError {
  const reason = error?.message ?? (code === errorCode.none ? 'the server closed the stream' : `HTTP/2 code ${code}`);
  const options = { fate: isUnsent ? 'unsent' : 'lost', cause: error } as const;
  return new GrpcError(grpcStatus.unavailable, `connection lost during the call: ${reason}`, options);
}

function tooLate(method: string, timeoutMs: number): GrpcError {
  const message = `${method}: no response within ${Math.ceil(timeoutMs)} ms`;
  return new GrpcError(grpcStatus.deadlineExceeded, message, { fate: 'lost' });
}

const headOf = ({ authority, secure }: Endpoint): string =>
  encodedPseudoField(':method', 'POST') +
  encodedPseudoField(':scheme', secure ? 'https' : 'http') +
  encodedPseudoField(':authority', authority);

/** The same for every call, behind its path. */
const commonFields = [
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ['user-agent', 'hangar'],
]
  .map(([name, value]) => encodedField(name!, value!))
  .join('');
