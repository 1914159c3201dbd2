/** An HTTP proxy on loopback in front of an S3 server, which damages requests and responses. */

import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

export type Fault =
  /** Closes the connection without an answer. */
  | 'refuse'
  /** Closes it after a part of the body of the request. */
  | 'cut request'
  /** Changes one bit of the body of the request. */
  | 'corrupt request'
  /** Forwards the request and closes the connection instead of the response. */
  | 'lose response'
  /** Closes it after a part of the body of the response. */
  | 'cut response'
  | 'corrupt response'
  /** Never answers. */
  | 'stall'
  /** Answers with an error. */
  | { readonly status: number; readonly code: string };

export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
}

export interface FaultProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Decides about each request; undefined forwards it. */
  fault: (request: ProxiedRequest) => Fault | undefined;
  /** Faults so far. */
  readonly faults: number;
}

export async function startFaultProxy(upstream: string): Promise<FaultProxy> {
  const target = new URL(upstream);
  let faults = 0;
  const server = createServer((request, response) => {
    const fault = proxy.fault({ method: request.method!, target: request.url! });
    if (fault !== undefined) faults++;
    if (fault === 'refuse') return void request.socket.destroy();
    if (fault === 'stall') return;
    if (typeof fault === 'object') return answer(request, response, fault);
    forward(target, request, response, fault);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: () => undefined,
    get faults() {
      return faults;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function answer(request: IncomingMessage, response: ServerResponse, fault: { status: number; code: string }): void {
  request.resume();
  request.on('end', () => {
    response.writeHead(fault.status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${fault.code}</Code><Message>by the test</Message></Error>`);
  });
}

function forward(target: URL, request: IncomingMessage, response: ServerResponse, fault: Fault | undefined): void {
  const { method, url: path, headers } = request;
  const sent = httpRequest({ host: target.hostname, port: target.port, method, path, headers });
  const close = (): void => {
    sent.destroy();
    request.socket.destroy();
  };
  sent.on('error', close);
  response.on('close', () => sent.destroy());
  sent.on('response', (received) => {
    if (fault === 'lose response') return void received.resume().on('end', close);
    response.writeHead(received.statusCode!, received.headers);
    received.on('error', close);
    received.pipe(damaging(fault === 'cut response', fault === 'corrupt response', close)).pipe(response);
  });
  request.pipe(damaging(fault === 'cut request', fault === 'corrupt request', close)).pipe(sent);
}

/** Damages its first piece. */
function damaging(isCut: boolean, isCorrupted: boolean, close: () => void): Transform {
  let isFirst = true;
  return new Transform({
    transform(piece: Buffer, _, done) {
      const bytes = Buffer.from(piece);
      if (isFirst && isCorrupted) bytes[bytes.length >> 1]! ^= 1;
      if (isFirst && isCut) {
        this.push(bytes.subarray(0, bytes.length >> 1));
        setImmediate(close);
        return;
      }
      isFirst = false;
      done(null, bytes);
    },
  });
}
