/** Runs one probe, with the results and messages of the kubelet. */

import { request as requestHttp } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { connect } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { Container, Probe } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { CommandResult } from './command-result.ts';

export interface ProbeResult {
  readonly isSuccess: boolean;
  readonly output: string;
  /** No program listens on the port. */
  readonly isRefused?: boolean;
}

export interface ProbeTarget {
  readonly container: Container;
  readonly podIP: string;
  readonly clock: Clock;
  /** Runs a command in the container. */
  run(command: readonly string[], timeoutMs: number): Promise<CommandResult>;
}

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'>;

const success: ProbeResult = { isSuccess: true, output: '' };
const failure = (output: string): ProbeResult => ({ isSuccess: false, output });
/** A connection that failed. */
const dialFailure = (error: Error, output: string): ProbeResult => ({
  ...failure(output),
  isRefused: hasCode(error, 'ECONNREFUSED'),
});

/** Never rejects. */
export async function runProbe(handler: Handler, target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  try {
    if (handler.exec) return await execProbe(handler.exec.command ?? [], target, timeoutMs);
    if (handler.httpGet) return await httpProbe(handler.httpGet, target, timeoutMs);
    if (handler.tcpSocket) return await tcpProbe(handler.tcpSocket, target, timeoutMs);
    if (handler.grpc) return await grpcProbe(handler.grpc, target, timeoutMs);
    return failure('missing probe handler');
  } catch (error) {
    return failure(asError(error).message);
  }
}

async function execProbe(command: readonly string[], target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  const { exitCode, output, isTimeout } = await target.run(command, timeoutMs);
  if (isTimeout)
    return failure(`command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeoutMs}ms`);
  return exitCode === 0 ? success : failure(output);
}

/** Returns the number of a port, which may be the name of a port of the container. Throws if there is no such port. */
export function portNumber(port: number | string, { ports = [] }: Container): number {
  const number =
    typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? Number(port));
  if (!(number > 0 && number < 65_536)) throw new Error(`couldn't find port: ${port}`);
  return number;
}

const bodyBytesMax = 10 * 1024;

let probeContext: SecureContext | undefined;

/**
 * Returns options for TLS. As those of the kubelet, probes do not verify certificates. All share one context without CAs: a new one needs as
 * much CPU time as a refused connection, and a starting container is probed every 50 ms.
 */
const unverified = (): { rejectUnauthorized: false; secureContext: SecureContext } => ({
  rejectUnauthorized: false,
  secureContext: (probeContext ??= createSecureContext({ ca: [] })),
});

export function httpProbe(
  { host, port, path = '/', scheme = 'HTTP', httpHeaders = [] }: NonNullable<Handler['httpGet']>,
  { container, podIP, clock }: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const address = host || podIP;
  const number = portNumber(port, container);
  const isTls = scheme === 'HTTPS';
  const target = path.startsWith('/') ? path : `/${path}`;
  const url = `${isTls ? 'https' : 'http'}://${address}:${number}${target}`;
  const headers: Record<string, string> = { 'user-agent': 'kube-probe/1.36', accept: '*/*' };
  for (const { name, value } of httpHeaders) headers[name.toLowerCase()] = value;
  return new Promise((resolve) => {
    const options = { host: address, port: number, path: target, headers, agent: false as const };
    const request = isTls ? requestHttps({ ...options, ...unverified() }) : requestHttp(options);
    const timer = clock.after(timeoutMs, () => request.destroy(new Error('context deadline exceeded')));
    const settle = (result: ProbeResult): void => {
      timer.cancel();
      request.destroy();
      resolve(result);
    };
    request.on('error', (error) =>
      settle(dialFailure(error, `Get ${JSON.stringify(url)}: ${dialError(error, address, number)}`)),
    );
    request.once('response', (response) => {
      let bytes = 0;
      const status = response.statusCode ?? 0;
      const done = (): void =>
        settle(status >= 200 && status < 400 ? success : failure(`HTTP probe failed with statuscode: ${status}`));
      response.on('data', (chunk: Buffer) => ((bytes += chunk.length) > bodyBytesMax ? done() : undefined));
      response.once('end', done);
      response.once('error', done);
    });
    request.end();
  });
}

export function tcpProbe(
  { host, port }: NonNullable<Handler['tcpSocket']>,
  { container, podIP, clock }: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const address = host || podIP;
  const number = portNumber(port, container);
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: number });
    const settle = (result: ProbeResult): void => {
      timer.cancel();
      socket.destroy();
      resolve(result);
    };
    const timer = clock.after(timeoutMs, () => settle(failure(`dial tcp ${address}:${number}: i/o timeout`)));
    socket.once('error', (error) => settle(dialFailure(error, dialError(error, address, number))));
    socket.once('connect', () => settle(success));
  });
}

const dialError = (error: Error, host: string, port: number): string =>
  hasCode(error, 'ECONNREFUSED') ? `dial tcp ${host}:${port}: connect: connection refused` : error.message;

/** Status of `grpc.health.v1.HealthCheckResponse` that means healthy. */
const serving = 1;

async function grpcProbe(
  { port, service = '' }: NonNullable<Handler['grpc']>,
  { podIP, clock }: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const session = connectHttp2(`http://${podIP}:${port}`);
  const timer = clock.after(timeoutMs, () => session.destroy(new Error('timeout')));
  try {
    return await new Promise<ProbeResult>((resolve, reject) => {
      session.once('error', reject);
      const stream = session.request({
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Check',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const parts: Buffer[] = [];
      let grpcStatus = '';
      const read = (headers: Record<string, unknown>): void => {
        if (headers['grpc-status'] !== undefined) grpcStatus = String(headers['grpc-status']);
      };
      stream.on('response', read).on('trailers', read).on('error', reject);
      stream.on('data', (chunk: Buffer) => parts.push(chunk));
      stream.once('end', () => resolve(healthOf(Buffer.concat(parts), grpcStatus)));
      stream.end(healthRequest(service));
    });
  } catch (error) {
    const reason = asError(error).message === 'timeout' ? `within ${timeoutMs / 1000}s` : asError(error).message;
    return failure(`timeout: failed to connect service ${JSON.stringify(`${podIP}:${port}`)} ${reason}`);
  } finally {
    timer.cancel();
    session.destroy();
  }
}

/** A gRPC message with field 1, the name of the service. */
function healthRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function healthOf(bytes: Buffer, grpcStatus: string): ProbeResult {
  if (grpcStatus !== '0') return failure(`error: health rpc failed: rpc error: code = ${grpcStatus}`);
  const status = bytes.length > 6 && bytes[5] === 0x08 ? bytes[6]! : 0;
  return status === serving
    ? success
    : failure(`service unhealthy (responded with ${JSON.stringify(statusNames[status] ?? String(status))})`);
}

const statusNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
