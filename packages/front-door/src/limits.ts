/** Limits of a front door, and the counts that they apply to. */

import { isIPv4, isIPv6 } from 'node:net';
import { addressBytes } from './proxy-protocol.ts';

export interface FrontDoorLimits {
  /** Connections that have a route. */
  readonly connectionsMax: number;
  readonly connectionsPerRouteMax: number;
  readonly connectionsPerSourceMax: number;
  /** Connections whose ClientHello is not complete. At the limit, the oldest one is cut: clients need milliseconds. */
  readonly handshakesMax: number;
  readonly handshakesPerSourceMax: number;
}

export const defaultLimits: FrontDoorLimits = {
  connectionsMax: 16_384,
  connectionsPerRouteMax: 8_192,
  connectionsPerSourceMax: 4_096,
  handshakesMax: 2_048,
  handshakesPerSourceMax: 512,
};

/**
 * Returns the unit that limits per source apply to: an IPv4 address, or the /64 network of an IPv6 address, of which a client has all
 * addresses.
 */
export function sourceOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped) || !isIPv6(mapped)) return mapped;
  return `${addressBytes(mapped).toString('hex', 0, 8)}/64`;
}

export type LimitName = 'connection-limit' | 'route-limit' | 'source-limit';

/** Counts connections that have a route. */
export class ConnectionCounts {
  readonly #limits: FrontDoorLimits;
  readonly #byRoute = new Map<string, number>();
  readonly #bySource = new Map<string, number>();
  #total = 0;

  constructor(limits: FrontDoorLimits) {
    this.#limits = limits;
  }

  get byRoute(): ReadonlyMap<string, number> {
    return this.#byRoute;
  }

  /** Counts a connection, or returns the limit that it exceeds. */
  take(route: string, source: string): LimitName | undefined {
    const { connectionsMax, connectionsPerRouteMax, connectionsPerSourceMax } = this.#limits;
    if (this.#total >= connectionsMax) return 'connection-limit';
    if ((this.#byRoute.get(route) ?? 0) >= connectionsPerRouteMax) return 'route-limit';
    if ((this.#bySource.get(source) ?? 0) >= connectionsPerSourceMax) return 'source-limit';
    this.#total += 1;
    add(this.#byRoute, route, 1);
    add(this.#bySource, source, 1);
    return undefined;
  }

  release(route: string, source: string): void {
    this.#total -= 1;
    add(this.#byRoute, route, -1);
    add(this.#bySource, source, -1);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Connections whose ClientHello is not complete, oldest first. */
export class PendingHandshakes<T> {
  readonly #limits: Pick<FrontDoorLimits, 'handshakesMax' | 'handshakesPerSourceMax'>;
  readonly #all = new Map<T, string>();
  readonly #bySource = new Map<string, Set<T>>();

  constructor(limits: Pick<FrontDoorLimits, 'handshakesMax' | 'handshakesPerSourceMax'>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#all.keys();
  }

  /** Returns the handshake that must be cut, because a limit is exceeded. */
  add(one: T, source: string): T | undefined {
    const ofSource = this.#bySource.get(source) ?? new Set();
    ofSource.add(one);
    this.#bySource.set(source, ofSource);
    this.#all.set(one, source);
    const { handshakesMax, handshakesPerSourceMax } = this.#limits;
    if (ofSource.size > handshakesPerSourceMax) return ofSource.values().next().value;
    return this.#all.size > handshakesMax ? this.#all.keys().next().value : undefined;
  }

  delete(one: T): void {
    const source = this.#all.get(one);
    if (source === undefined) return;
    this.#all.delete(one);
    const ofSource = this.#bySource.get(source)!;
    ofSource.delete(one);
    if (ofSource.size === 0) this.#bySource.delete(source);
  }
}
