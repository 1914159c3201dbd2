/** A small client of the cluster's API for aggregated servers: one request, one JSON response. */

import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isObject, StatusError } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { ClusterAccess } from '../outbound/cluster-access.ts';

const timeoutMs = 10_000;
const answerBytesMax = 4 * 1024 * 1024;
/** A token file is read again after this time. */
const tokenForMs = 60_000;

export class ClusterClient {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #agent: Agent;
  #token: { readonly text: string; readonly untilMs: number } | undefined;

  constructor(access: ClusterAccess, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
    const { ca, clientCertificate, isInsecure, serverName } = access;
    this.#agent = new Agent({
      keepAlive: true,
      ...(ca === undefined ? {} : { ca }),
      ...(clientCertificate ? { cert: clientCertificate.certificate, key: clientCertificate.key } : {}),
      ...(serverName === undefined ? {} : { servername: serverName }),
      rejectUnauthorized: !isInsecure,
    });
  }

  get(path: string): Promise<JsonObject> {
    return this.#send('GET', path, undefined);
  }

  create(path: string, object: object): Promise<JsonObject> {
    return this.#send('POST', path, object);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Rejects with an Error that contains the response of the cluster or the cause of the failure. */
  async #send(method: string, path: string, body: object | undefined): Promise<JsonObject> {
    const text = body && JSON.stringify(body);
    const token = await this.#authorization();
    const { status, value } = await this.#ask(method, path, text, {
      accept: 'application/json',
      'user-agent': 'aggregated-api-server',
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    });
    if (status >= 200 && status < 300 && isObject(value)) return value;
    const message = isObject(value) ? String(value['message'] ?? status) : String(status);
    throw new ClusterError(`${method} ${path}: the cluster responded with ${status}: ${message}`, status);
  }

  async #authorization(): Promise<string | undefined> {
    const { token } = this.#access;
    if (!token) return undefined;
    if (!this.#token || this.#clock.monotonicMs() > this.#token.untilMs) {
      this.#token = { text: await token(), untilMs: this.#clock.monotonicMs() + tokenForMs };
    }
    return this.#token.text;
  }

  #ask(
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<{ status: number; value: unknown }> {
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(`${this.#access.server}${path}`, { method, headers, agent: this.#agent });
      const timer = this.#clock.after(timeoutMs, () =>
        outgoing.destroy(new Error('the cluster did not respond in time')),
      );
      const fail = (error: Error): void => {
        timer.cancel();
        reject(error);
      };
      outgoing.on('error', fail);
      outgoing.on('response', (response) => {
        collect(response).then((value) => {
          timer.cancel();
          resolve({ status: response.statusCode ?? 0, value });
        }, fail);
      });
      outgoing.end(body);
    });
  }
}

export class ClusterError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

async function collect(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if ((bytes += chunk.length) > answerBytesMax) throw new Error('the response of the cluster is too large');
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** Error for clients when the cluster is unreachable: access is denied, but not as a client error. */
export const cannotAsk = (what: string, cause: unknown): StatusError =>
  new StatusError('InternalError', `${what}: ${(cause as Error).message}`, { cause });
