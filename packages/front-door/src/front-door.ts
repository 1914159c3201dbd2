/**
 * A TCP listener that routes TLS connections by their server name. TLS passes through: the backend terminates it, so the front door has no
 * keys and sees no requests.
 *
 *     client ─► ClientHello, within a deadline ─► route ─► a backend that accepts ─► bytes in both directions
 *                  │                                │
 *                  └ not TLS: reset, or 400         └ unknown name: TLS alert unrecognized_name
 */

import { BlockList, createServer, isIPv6 } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { dial } from './dial.ts';
import { FrontDoorError } from './errors.ts';
import { Greeting } from './greeting.ts';
import type { GreetingResult } from './greeting.ts';
import { ConnectionCounts, defaultLimits, PendingHandshakes, sourceOf } from './limits.ts';
import type { FrontDoorLimits } from './limits.ts';
import { FrontDoorMetrics } from './metrics.ts';
import type { ConnectionResult, MetricsSink } from './metrics.ts';
import { proxyHeader } from './proxy-protocol.ts';
import type { ProxiedConnection, ProxyVersion } from './proxy-protocol.ts';
import { refusalOf, refuse } from './refusals.ts';
import type { HandshakeFailure } from './refusals.ts';
import type { FindRoute, Route } from './routes.ts';
import { Tunnel } from './tunnel.ts';

export interface FrontDoorOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly findRoute: FindRoute;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsSink;
  readonly limits?: Partial<FrontDoorLimits> | undefined;
  /** How long a client has for its ClientHello. Absent: 10 s. */
  readonly handshakeTimeoutMs?: number | undefined;
  /** Of each attempt. Absent: 3 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Time without bytes before TCP keepalives. Established connections have no other idle timeout, because watches are long. Absent: 30 s. */
  readonly keepAliveMs?: number | undefined;
  /** How long the other direction of a connection stays open after one ended. Absent: 60 s. */
  readonly halfOpenMs?: number | undefined;
  /** Networks of load balancers, such as 10.0.0.0/8, whose connections start with a PROXY protocol header. Absent: none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Version of the PROXY protocol header for backends. Absent: backends get none. */
  readonly backendProxyProtocol?: ProxyVersion | undefined;
}

/** A connection whose ClientHello is not complete. */
interface Handshake {
  readonly socket: Socket;
  readonly greeting: Greeting;
  fail(failure: HandshakeFailure, response?: Buffer | string): void;
}

export class FrontDoor {
  readonly #options: FrontDoorOptions;
  readonly #server: Server;
  readonly #metrics: FrontDoorMetrics;
  readonly #counts: ConnectionCounts;
  readonly #handshakes: PendingHandshakes<Handshake>;
  readonly #tunnels = new Map<Tunnel, string>();
  /** Connections that wait for a backend. */
  readonly #dialing = new Set<Socket>();
  readonly #trusted: BlockList;
  /** Number of refused connections that are still open. */
  #refused = 0;
  #turn = 0;
  #isCut = false;
  #onEmpty: (() => void) | undefined;

  /** Rejects with `ListenFailed`. Throws `InvalidNetwork`. */
  static async listen(options: FrontDoorOptions): Promise<FrontDoor> {
    const door = new FrontDoor(options);
    const { host, port } = options;
    await new Promise<void>((resolve, reject) => {
      door.#server.once('error', (error) =>
        reject(
          new FrontDoorError('ListenFailed', `failed to listen on ${host}:${port}: ${error.message}`, { cause: error }),
        ),
      );
      door.#server.listen({ host, port }, resolve);
    });
    door.#server.on('error', (error) => options.log.warn('failed to accept a connection', { error: error.message }));
    return door;
  }

  private constructor(options: FrontDoorOptions) {
    this.#options = options;
    const limits = { ...defaultLimits, ...options.limits };
    this.#counts = new ConnectionCounts(limits);
    this.#handshakes = new PendingHandshakes(limits);
    this.#trusted = blockList(options.trustedProxies ?? []);
    this.#metrics = new FrontDoorMetrics(options.metrics, () => this.#measure());
    const { keepAliveMs = 30_000 } = options;
    const sockets = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs };
    this.#server = createServer(sockets, (socket) => this.#accept(socket));
  }

  /** The port that it listens on. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Number of connections that have a route. */
  get connections(): number {
    return this.#tunnels.size + this.#dialing.size;
  }

  /** Stops accepting connections. Open ones continue until they end, at most for `drainMs`, and are then cut. */
  async close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    const timer = this.#options.clock.after(drainMs, () => this.#cut());
    this.#settle();
    await empty;
    timer.cancel();
    await closed;
  }

  #cut(): void {
    this.#isCut = true;
    for (const { socket } of this.#handshakes) socket.destroy();
    for (const socket of this.#dialing) socket.destroy();
    for (const tunnel of this.#tunnels.keys()) tunnel.destroy();
  }

  #settle(): void {
    if (this.#tunnels.size === 0 && this.#dialing.size === 0 && this.#handshakes.size === 0) this.#onEmpty?.();
  }

  #measure(): { readonly pending: number } {
    for (const [tunnel, route] of this.#tunnels) this.#metrics.transferred(route, tunnel.transferred());
    return { pending: this.#handshakes.size };
  }

  #accept(socket: Socket): void {
    const { clock, handshakeTimeoutMs = 10_000 } = this.#options;
    const { remoteAddress } = socket;
    socket.on('error', () => socket.destroy());
    // The client closed the connection before it was accepted.
    if (remoteAddress === undefined) return void socket.destroy();
    const isTrusted = this.#trusted.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
    const greeting = new Greeting(isTrusted);
    const leave = (): void => {
      timer.cancel();
      socket.off('data', onData).off('end', onEnd).off('close', onEnd);
      this.#handshakes.delete(handshake);
    };
    const fail = (failure: HandshakeFailure, response?: Buffer | string): void => {
      leave();
      this.#metrics.failed(failure);
      if (failure === 'client-closed') socket.destroy();
      else this.#refuse(socket, response);
      this.#settle();
    };
    const onEnd = (): void => fail('client-closed');
    const onData = (chunk: Buffer): void => {
      const result = greeting.push(chunk);
      if (result.kind === 'incomplete') return;
      socket.pause();
      this.#greeted(handshake, result, leave);
    };
    const handshake: Handshake = { socket, greeting, fail };
    const timer = clock.after(handshakeTimeoutMs, () => fail('timeout'));
    socket.on('data', onData).once('end', onEnd).once('close', onEnd);
    // All clients behind a load balancer share its address: they are limited when they have a route.
    const source = isTrusted ? 'trusted proxies' : sourceOf(remoteAddress);
    this.#handshakes.add(handshake, source)?.fail('handshake-limit');
  }

  /** Clients that have not read their response are as many as handshakes. Others are reset. */
  #refuse(socket: Socket, response: Buffer | string | undefined): void {
    const { limits, clock } = this.#options;
    if (this.#refused >= (limits?.handshakesMax ?? defaultLimits.handshakesMax)) return void socket.resetAndDestroy();
    this.#refused += 1;
    socket.once('close', () => (this.#refused -= 1));
    refuse(socket, response, clock);
  }

  #greeted(handshake: Handshake, result: Exclude<GreetingResult, { kind: 'incomplete' }>, leave: () => void): void {
    switch (result.kind) {
      case 'invalid-proxy-header':
        return handshake.fail('invalid-proxy-header');
      case 'not-tls': {
        const failure = result.reason === 'http-request' ? 'http-request' : 'not-tls';
        return handshake.fail(failure, refusalOf(failure, result.reason));
      }
      case 'no-server-name':
        return handshake.fail('no-server-name', refusalOf('no-server-name'));
      case 'server-name': {
        const route = this.#options.findRoute(result.serverName);
        if (!route) return handshake.fail('unknown-server-name', refusalOf('unknown-server-name'));
        leave();
        void this.#forward(handshake, route, result.serverName);
      }
    }
  }

  async #forward({ socket, greeting }: Handshake, route: Route, serverName: string): Promise<void> {
    const connection = greeting.proxied ?? connectionOf(socket);
    const source = sourceOf(connection?.source.address ?? '');
    const limit = this.#counts.take(route.name, source);
    if (limit) {
      this.#metrics.finished(route.name, limit);
      socket.resetAndDestroy();
      return this.#settle();
    }
    this.#metrics.opened(route.name);
    const done = (result: ConnectionResult): void => {
      this.#counts.release(route.name, source);
      this.#metrics.closed(route.name);
      this.#metrics.finished(route.name, result);
      this.#settle();
    };
    this.#dialing.add(socket);
    const backend = await this.#dial(socket, route);
    if (!backend) {
      this.#dialing.delete(socket);
      socket.resetAndDestroy();
      return done('backend-unreachable');
    }
    const { backendProxyProtocol: version, clock, halfOpenMs = 60_000 } = this.#options;
    const header = version ? [proxyHeader(version, connection, serverName)] : [];
    const onClosed = (): void => {
      this.#metrics.transferred(route.name, tunnel.transferred());
      this.#tunnels.delete(tunnel);
      done(this.#isCut ? 'cut' : 'ended');
    };
    const sockets = { client: socket, backend };
    const tunnel = new Tunnel({ ...sockets, halfOpenMs, clock, onClosed }, [...header, ...greeting.bytes]);
    this.#tunnels.set(tunnel, route.name);
    this.#dialing.delete(socket);
  }

  /** Resolves with undefined if no backend accepts, or if the client closes the connection before. */
  async #dial(client: Socket, { name, backends }: Route): Promise<Socket | undefined> {
    const { clock, log, connectTimeoutMs: timeoutMs = 3_000, keepAliveMs = 30_000 } = this.#options;
    const closing = new AbortController();
    const abort = (): void => closing.abort();
    client.once('close', abort);
    const { signal } = closing;
    const backend = await dial({ backends, first: this.#turn++, timeoutMs, keepAliveMs, clock, signal });
    client.off('close', abort);
    if (!backend) log.debug('no backend accepts connections', { route: name, backends: backends.length });
    if (!client.destroyed) return backend;
    backend?.destroy();
    return undefined;
  }
}

const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

function connectionOf(socket: Socket): ProxiedConnection | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (remoteAddress === undefined || localAddress === undefined) return undefined;
  return {
    source: { address: withoutMapping(remoteAddress), port: remotePort ?? 0 },
    destination: { address: withoutMapping(localAddress), port: localPort ?? 0 },
  };
}

/** Throws `InvalidNetwork`. */
function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    try {
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, /^\d{1,3}$/.test(bits) ? Number(bits) : NaN, family);
    } catch (error) {
      const message = `${JSON.stringify(network)} is not an IP address or network: ${asError(error).message}`;
      throw new FrontDoorError('InvalidNetwork', message, { cause: error });
    }
  }
  return list;
}
