/**
 * Opens connections to addresses that the policy allows. Names are resolved once, and the checked address is the one that is used, so DNS
 * rebinding has no effect.
 */

import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Clock } from '@hangar/core';
import type { AddressPolicy } from './address-policy.ts';
import { refused } from './address-policy.ts';
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
export function guardedLookup(policy: AddressPolicy, resolver: Resolver = systemLookup): LookupFunction {
  return (name, options, callback) => {
    resolver(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const allowed = addresses.filter(({ address }) => policy.allows(address));
      const [first] = allowed;
      if (!first) return callback(refused(addresses[0]?.address ?? name), '');
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** Sockets do not call lookup for literal addresses. Throws `Refused`. */
export function checkLiteral(policy: AddressPolicy, host: string): void {
  if (isIP(host) !== 0) policy.check(host);
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
  readonly policy: AddressPolicy;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly resolver?: Resolver | undefined;
  readonly alpn?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Opens a dedicated connection. Rejects with an OutboundError. */
export function openConnection(destination: Destination, options: ConnectOptions): Promise<TLSSocket> {
  const { policy, clock, timeoutMs, resolver, alpn = ['http/1.1'], signal } = options;
  return new Promise((resolve, reject) => {
    checkLiteral(policy, destination.host);
    if (signal?.aborted) throw new OutboundError('Aborted', 'context canceled');
    const socket = connectTls({
      ...tlsOptions(destination),
      host: destination.host,
      port: destination.port,
      lookup: guardedLookup(policy, resolver),
      ALPNProtocols: [...alpn],
    });
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
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      release();
      resolve(socket);
    });
  });
}
