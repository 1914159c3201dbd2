/**
 * Sends requests to a cluster: over a connection that is opened on demand, through the write gate for changes, and once more with a reread
 * kubeconfig when the server rejects the credentials.
 */

import type { HttpAnswer, HttpRequest, HttpTransport } from '@hangar/client';
import { isRead } from '@hangar/runtime/clusters';
import type { Connections, Lease, Target } from './connections.ts';
import type { WriteGate } from './write-gate.ts';

export interface ClusterTransportOptions {
  readonly connections: Connections;
  readonly target: Target;
  readonly gate: WriteGate;
  /** Called with the outcome of a request: any answer of the server, or the error. */
  readonly onAnswer: (answer: Answered) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface Answered {
  readonly status: number;
  readonly isWrite: boolean;
  /** A missing permission, in the words of the server. */
  readonly refusal?: string | undefined;
}

export class ClusterTransport implements HttpTransport {
  readonly #options: ClusterTransportOptions;

  constructor(options: ClusterTransportOptions) {
    this.#options = options;
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const { onAnswer, onFailure } = this.#options;
    const isWrite = !isRead(request);
    try {
      const answer = await this.#request(request);
      const { status } = answer;
      if (status !== 403 || !isWrite) {
        onAnswer({ status, isWrite });
        return answer;
      }
      const body = await answer.body();
      onAnswer({ status, isWrite, refusal: missingRight(body) });
      return readAlready(answer, body);
    } catch (error) {
      if (!request.signal?.aborted) onFailure(error);
      throw error;
    }
  }

  /** `Connections` closes the connections. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #request(request: HttpRequest): Promise<HttpAnswer> {
    const { connections, target } = this.#options;
    const lease = await connections.take(target, request.signal);
    const answer = await this.#send(lease, request);
    if (answer.status !== 401) return answer;
    const body = await answer.body();
    const isRenewed = await connections.renewed(target, lease.connection, request.signal);
    return isRenewed ? this.#send(await connections.take(target, request.signal), request) : readAlready(answer, body);
  }

  async #send(lease: Lease, request: HttpRequest): Promise<HttpAnswer> {
    const { transport } = lease.connection;
    let sent: Promise<HttpAnswer> | undefined;
    const send = (signal: AbortSignal | undefined): Promise<HttpAnswer> => {
      sent = transport.request({ ...request, signal });
      return sent;
    };
    try {
      const { gate } = this.#options;
      return held(await (isRead(request) ? send(request.signal) : gate.write(request.signal, send)), lease);
    } catch (error) {
      // A write may outlive its caller.
      void Promise.resolve(sent)
        .then((answer) => answer?.body())
        .catch(() => undefined)
        .then(lease.release);
      throw error;
    }
  }
}

/** Quotas, terminating namespaces and webhooks refuse with the same code: these concern one object, not the cluster. */
function missingRight(body: Buffer): string | undefined {
  try {
    const { message } = JSON.parse(body.toString()) as { message?: unknown };
    return typeof message === 'string' && /User ".*" cannot /.test(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** The connection is in use until the body is read. */
const held = (answer: HttpAnswer, { release }: Lease): HttpAnswer => ({
  status: answer.status,
  header: (name) => answer.header(name),
  body: () => answer.body().finally(release),
  async *stream() {
    try {
      yield* answer.stream();
    } finally {
      release();
    }
  },
});

const readAlready = ({ status, header }: HttpAnswer, body: Buffer): HttpAnswer => ({
  status,
  header,
  body: () => Promise.resolve(body),
  async *stream() {
    yield body;
  },
});
