/** Address of an etcd member, and opening a byte stream to it. */

import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { abortError } from '@hangar/core';
import type { Address, Transport } from '@hangar/core';
import { StoreError } from '../../../errors.ts';

export interface Endpoint extends Address {
  /** As configured. */
  readonly url: string;
  /** Value of the HTTP/2 `:authority` pseudo-header. */
  readonly authority: string;
  readonly secure: boolean;
}

export interface TlsOptions {
  /** PEM: authorities that may sign the servers' certificates; absent: the authorities that Node trusts. */
  ca?: string | Uint8Array;
  /** PEM: the client's own certificate and key. */
  cert?: string | Uint8Array;
  key?: string | Uint8Array;
  /** The name that the servers' certificates must carry; absent: the endpoint's host. */
  serverName?: string;
}

const defaultPort = 2379;

export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.pathname !== '/' || url.username || url.search) {
    throw new StoreError('InvalidRequest', `an endpoint must be http(s)://host:port, not ${JSON.stringify(text)}`);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // The URL class hides the default port of a scheme.
  const port = Number(url.port) || (/:(80|443)\/?$/.test(text) ? Number(/(\d+)\/?$/.exec(text)![1]) : defaultPort);
  return { url: text, host, port, authority: `${url.hostname}:${port}`, secure: url.protocol === 'https:' };
}

export interface DialOptions {
  endpoint: Endpoint;
  tls: TlsOptions | undefined;
  transport: Transport;
  signal: AbortSignal;
}

/** Returns a connected stream. For https, the server's certificate is verified. */
export async function dial({ endpoint, tls, transport, signal }: DialOptions): Promise<Duplex> {
  const { host, port } = endpoint;
  const socket = await transport.connect({ host, port }, signal);
  return endpoint.secure ? secure(socket, endpoint, tls ?? {}, signal) : socket;
}

function secure(socket: Duplex, endpoint: Endpoint, tls: TlsOptions, signal: AbortSignal): Promise<Duplex> {
  const { serverName, ...credentials } = tls;
  const name = serverName ?? (isIP(endpoint.host) ? undefined : endpoint.host);
  const options: ConnectionOptions = {
    socket,
    host: endpoint.host,
    ALPNProtocols: ['h2'],
    ...(name !== undefined && { servername: name }),
    ...(credentials as Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>),
  };
  return new Promise((resolve, reject) => {
    const onAbort = () => secured.destroy(abortError(signal));
    const settle = () => {
      signal.removeEventListener('abort', onAbort);
      secured.off('error', onError).off('close', onClose);
    };
    const onError = (error: Error) => {
      settle();
      socket.destroy();
      reject(error);
    };
    const onClose = () => onError(new Error('the connection was closed during the TLS handshake'));
    const secured = connectTls(options, () => {
      settle();
      resolve(secured);
    });
    secured.on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** Reports whether the server rejected the client certificate (or requires one). */
export function refusesOurCertificate(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return /^ERR_SSL_.*ALERT_(BAD_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/.test(code);
}
