/** A status server on this machine, and a client that accepts any certificate. */

import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { Logger, systemClock } from '@hangar/core';
import { startServing } from '../start.ts';
import type { Served, ServingOptions } from '../start.ts';

export interface TestServer extends Served, AsyncDisposable {
  readonly logged: string[];
  ask(path: string, options?: AskOptions): Promise<Answered>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  readonly ca?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  readonly certificate: PeerCertificate;
}

export async function serving(changes: Partial<ServingOptions> = {}): Promise<TestServer> {
  const logged: string[] = [];
  const served = await startServing({
    bindAddress: '127.0.0.1',
    port: 0,
    certificates: {},
    rows: () => [],
    isSynced: () => true,
    hasJoined: () => true,
    ownMetrics: () => '',
    clock: systemClock,
    log: new Logger({ level: 'debug', format: 'text', clock: systemClock, write: (line) => logged.push(line) }),
    ...changes,
  });
  return {
    ...served,
    logged,
    ask: (path, options) => ask(served.port, path, options),
    [Symbol.asyncDispose]: () => served.close(),
  };
}

export async function ask(port: number, path: string, options: AskOptions = {}): Promise<Answered> {
  const { method = 'GET', headers = {}, body, ca } = options;
  const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
  const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false, ...trust });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const certificate = (response.socket as TLSSocket).getPeerCertificate();
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: content,
    text: content.toString(),
    certificate,
  };
}
