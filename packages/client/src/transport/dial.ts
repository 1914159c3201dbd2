/**
 * Opens a connection to the server of a cluster: TCP, an optional proxy, TLS and protocol negotiation. One timeout covers all steps, and
 * the signal aborts them at once; partial connections are destroyed.
 */

import { isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { SecureContext, TLSSocket } from 'node:tls';
import { abortError, orAborted } from '@hangar/core';
import type { Clock, Transport } from '@hangar/core';
import type { ClientCertificate, ClusterConfig } from '../config/cluster-config.ts';
import { ClientError } from '../errors.ts';
import { dialError } from './dial-errors.ts';
import type { ServerAddress } from './server-address.ts';
import { tunnel } from './tunnel.ts';

export type Protocol = 'h2' | 'http/1.1';

export interface Dialed {
  readonly socket: Duplex;
  readonly protocol: Protocol;
}

export interface DialerOptions {
  readonly config: ClusterConfig;
  readonly address: ServerAddress;
  readonly proxy: URL | undefined;
  readonly protocols: readonly Protocol[];
  readonly connectTimeoutMs: number;
  readonly transport: Transport;
  readonly clock: Clock;
}

/** Idle time after which the kernel sends TCP keep-alive probes. */
const tcpKeepAliveMs = 30_000;

export class Dialer {
  readonly #options: DialerOptions;
  readonly #to: string;
  /** Takes milliseconds to create, and stays valid until the certificate changes. */
  #context:
    | { readonly of: ClientCertificate | undefined; readonly ca: string | undefined; readonly context: SecureContext }
    | undefined;

  constructor(options: DialerOptions) {
    this.#options = options;
    const { isSecure, authority } = options.address;
    this.#to = `${isSecure ? 'https' : 'http'}://${authority}`;
  }

  /**
   * Resolves with the result of `use`, which may wait for the first bytes of the server: the timeout covers all of it. Rejects with
   * `ConnectionFailed`, `CredentialsFailed` or `Aborted`.
   */
  async open<T>(
    signal: AbortSignal,
    use: (dialed: Dialed, signal: AbortSignal) => T | Promise<T>,
    protocols: readonly Protocol[] = this.#options.protocols,
  ): Promise<T> {
    const { clock, connectTimeoutMs } = this.#options;
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const tooLate = new ClientError('ConnectionFailed', `${this.#to} cannot be reached within ${connectTimeoutMs} ms`);
    const timer = clock.after(connectTimeoutMs, () => controller.abort(tooLate));
    try {
      return await use(await this.#steps(protocols, controller.signal), controller.signal);
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      throw controller.signal.aborted ? tooLate : dialError(this.#to, error);
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #steps(protocols: readonly Protocol[], signal: AbortSignal): Promise<Dialed> {
    const { address, proxy, transport } = this.#options;
    const first = proxy ? proxyAddress(proxy) : { host: address.host, port: address.port };
    let socket = await transport.connect(first, signal);
    if (socket instanceof Socket) socket.setKeepAlive(true, tcpKeepAliveMs);
    if (proxy) {
      if (proxy.protocol === 'https:') socket = await secured(socket, named(first.host), signal);
      await orDestroyed(tunnel(socket, proxy, { host: address.host, port: address.port }), socket, signal);
    }
    if (!address.isSecure) return { socket, protocol: 'http/1.1' };
    const tls = await this.#secure(socket, protocols, signal);
    return { socket: tls, protocol: tls.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' };
  }

  async #secure(socket: Duplex, protocols: readonly Protocol[], signal: AbortSignal): Promise<TLSSocket> {
    const { config, address } = this.#options;
    let certificate: ClientCertificate | undefined;
    try {
      const asked = config.credentials?.clientCertificate?.(signal);
      certificate = asked && (await orDestroyed(asked, socket, signal));
      const ca = config.renewedCa ? await orDestroyed(config.renewedCa(), socket, signal) : config.ca;
      if (!this.#context || this.#context.of !== certificate || this.#context.ca !== ca) {
        this.#context = { of: certificate, ca, context: contextOf(ca, certificate) };
      }
    } catch (error) {
      socket.destroy();
      throw error;
    }
    const options = {
      ...named(config.serverName ?? address.host),
      secureContext: this.#context.context,
      rejectUnauthorized: !config.isInsecure,
      ALPNProtocols: [...protocols],
    };
    return secured(socket, options, signal);
  }
}

function contextOf(ca: string | undefined, certificate: ClientCertificate | undefined): SecureContext {
  try {
    return createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
      minVersion: 'TLSv1.2',
    });
  } catch (cause) {
    throw new ClientError('CredentialsFailed', `cannot parse a certificate or key: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Returns the expected name of the certificate. SNI does not allow IP addresses (RFC 6066, 3). */
const named = (host: string): { host: string; servername?: string } =>
  isIP(host) === 0 ? { host, servername: host } : { host };

function secured(socket: Duplex, options: object, signal: AbortSignal): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const tls = connectTls({ ...options, socket });
  tls.once('secureConnect', () => resolve(tls));
  tls.once('error', reject);
  const onClose = (): void => reject(new Error('the server closed the connection during the TLS handshake'));
  tls.once('close', onClose);
  return orDestroyed(promise, tls, signal).finally(() => tls.off('close', onClose).off('error', reject));
}

/** Resolves with `promise` unless the signal is aborted first. A failure destroys the socket. */
async function orDestroyed<T>(promise: Promise<T>, socket: Duplex, signal: AbortSignal): Promise<T> {
  try {
    return await orAborted(promise, signal);
  } catch (error) {
    // Ignores late errors.
    socket.on('error', () => {});
    socket.destroy();
    throw error;
  }
}

const defaultPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'socks5:': 1080,
  'socks5h:': 1080,
};

const proxyAddress = ({ protocol, hostname, port }: URL): { host: string; port: number } => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  port: port === '' ? defaultPorts[protocol]! : Number(port),
});
