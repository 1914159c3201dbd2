/**
 * Opens connections to addresses that the policy allows. Names are resolved once, and the checked address is the one that is used, so DNS
 * rebinding has no effect.
 */

import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { connect as connectTcp, isIP } from 'node:net';
import type { LookupFunction, OnReadOpts, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Clock } from '@hangar/core';
import type { AddressRule } from './address-policy.ts';
import { secured } from './cluster-network.ts';
import type { ClusterDialer } from './cluster-network.ts';
import { OutboundError, outboundError } from './errors.ts';

/** Resolves all addresses of a name, as `dns.lookup` does. */
export type Resolver = (
  name: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** TLS identity of both sides. Everything is PEM. */
export interface TlsIdentity {
  /** Absent: the authorities that the system trusts. */
  readonly ca?: string | undefined;
  /** The name that the peer's certificate must be for; absent: the host. */
  readonly serverName?: string | undefined;
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
  /** Skips verification, if configured explicitly, as APIServices may. */
  readonly isInsecure?: boolean | undefined;
}

export interface Destination extends TlsIdentity {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `lookup` of a socket that returns only allowed addresses. */
export function guardedLookup(policy: AddressRule, resolver: Resolver = systemLookup): LookupFunction {
  return (name, options, callback) => {
    resolver(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const allowed = addresses.filter(({ address }) => !policy.refusal(address));
      const [first] = allowed;
      if (!first) return callback(policy.refusal(addresses[0]?.address ?? name)!, '');
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** Sockets do not call lookup for literal addresses. Throws `Refused`. */
export function checkLiteral(policy: AddressRule, host: string): void {
  const refusal = isIP(host) === 0 ? undefined : policy.refusal(host);
  if (refusal) throw refusal;
}

/** Returns an allowed address of a name, or the address itself. Rejects with an OutboundError. */
export function allowedAddress(host: string, policy: AddressRule, resolver?: Resolver): Promise<string> {
  return new Promise((resolve, reject) => {
    checkLiteral(policy, host);
    if (isIP(host) !== 0) return resolve(host);
    guardedLookup(policy, resolver)(host, {}, (error, address) =>
      error ? reject(outboundError(error)) : resolve(String(address)),
    );
  });
}

/** Returns the name for TLS; an address is not sent as a name. */
const serverNameOf = ({ serverName, host }: Destination): { servername: string } | object => {
  const name = serverName ?? host;
  return isIP(name) === 0 ? { servername: name } : {};
};

export function tlsOptions(destination: Destination): ConnectionOptions {
  const { ca, clientCertificate, isInsecure } = destination;
  return {
    ...(ca ? { ca } : {}),
    ...(clientCertificate ? { cert: clientCertificate.certificate, key: clientCertificate.key } : {}),
    ...(isInsecure ? { rejectUnauthorized: false } : {}),
    ...serverNameOf(destination),
    minVersion: 'TLSv1.2',
  };
}

export interface ConnectOptions {
  readonly policy: AddressRule;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly resolver?: Resolver | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TlsConnectOptions extends ConnectOptions {
  readonly alpn?: readonly string[] | undefined;
  /** Opens the connection to an address; absent: this server. */
  readonly dialer?: ClusterDialer | undefined;
}

/** Opens a dedicated TLS connection. Rejects with an OutboundError. */
export async function openConnection(destination: Destination, options: TlsConnectOptions): Promise<TLSSocket> {
  const { host, port } = destination;
  const { policy, resolver, alpn = ['http/1.1'], dialer, signal } = options;
  checkLiteral(policy, host);
  const tls = { ...tlsOptions(destination), host, port, ALPNProtocols: [...alpn] };
  const raw = await dialer?.dial({ host, port, signal });
  const connect = (): TLSSocket =>
    raw ? secured(raw, tls) : connectTls({ ...tls, lookup: guardedLookup(policy, resolver) });
  return opened(host, connect, 'secureConnect', options);
}

/** Opens a dedicated TCP connection. Rejects with an OutboundError. */
export function openTcp({ host, port }: Pick<Destination, 'host' | 'port'>, options: ConnectOptions): Promise<Socket> {
  const { policy, resolver } = options;
  const connect = (): Socket => connectTcp({ host, port, lookup: guardedLookup(policy, resolver), noDelay: true });
  return opened(host, connect, 'connect', options);
}

/** Options of Node.js that the types of `tls.connect` do not have. */
export interface DirectTlsOptions extends ConnectionOptions {
  readonly onread?: OnReadOpts;
  readonly noDelay?: boolean;
}

/** Opens a dedicated TCP connection and starts TLS. Resolves before the handshake. Rejects with an OutboundError. */
export function openTls(
  { host, port }: Pick<Destination, 'host' | 'port'>,
  tls: DirectTlsOptions,
  options: ConnectOptions,
): Promise<TLSSocket> {
  const { policy, resolver } = options;
  const all: DirectTlsOptions = { ...tls, host, port, lookup: guardedLookup(policy, resolver), noDelay: true };
  return opened(host, () => connectTls(all), 'connect', options);
}

/** Waits for `event` of the socket that `connect` returns. */
function opened<S extends Socket>(host: string, connect: () => S, event: string, options: ConnectOptions): Promise<S> {
  const checked = (): S => {
    checkLiteral(options.policy, host);
    return connect();
  };
  return untilReady(checked, (socket, done) => socket.once(event, done), options);
}

/**
 * Returns the socket of `connect` when `begin` calls `done`. Destroys it and rejects with an OutboundError if `begin` calls `fail`, if the
 * socket has an error, after the timeout, or on the abort.
 */
export function untilReady<S extends Socket>(
  connect: () => S,
  begin: (socket: S, done: () => void, fail: (error: unknown) => void) => void,
  { clock, timeoutMs, signal }: Pick<ConnectOptions, 'clock' | 'timeoutMs' | 'signal'>,
): Promise<S> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw new OutboundError('Aborted', 'context canceled');
    const socket = connect();
    const fail = (error: unknown): void => {
      release();
      socket.destroy();
      reject(outboundError(error));
    };
    const onAbort = (): void => fail(new OutboundError('Aborted', 'context canceled'));
    const timer = clock.after(timeoutMs, () => fail(new OutboundError('Timeout', 'context deadline exceeded')));
    const release = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
      socket.off('error', fail);
    };
    const done = (): void => {
      release();
      resolve(socket);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail);
    begin(socket, done, fail);
  });
}
