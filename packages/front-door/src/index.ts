/**
 * One address for many TLS servers: connections are routed by the server name of their ClientHello, without terminating TLS.
 *
 *     const door = await FrontDoor.listen({ host: '0.0.0.0', port: 6443, findRoute: (name) => routes.get(name), … });
 *
 *   front-door.ts       the listener: read this first
 *   greeting.ts         the start of a connection: client-hello.ts, proxy-protocol.ts
 *   limits.ts           counts and limits of connections and handshakes
 *   dial.ts tunnel.ts   the connection to a backend
 *   refusals.ts         responses to connections without a route
 */

export { ClientHelloReader, helloBytesMax, normalizedHost } from './client-hello.ts';
export type { ClientHello, NotTlsReason } from './client-hello.ts';
export { FrontDoorError } from './errors.ts';
export type { FrontDoorErrorCode } from './errors.ts';
export { FrontDoor } from './front-door.ts';
export type { FrontDoorOptions } from './front-door.ts';
export { defaultLimits } from './limits.ts';
export type { FrontDoorLimits } from './limits.ts';
export type { MetricsSink } from './metrics.ts';
export { proxyHeader, readProxyHeader } from './proxy-protocol.ts';
export type { Peer, ProxiedConnection, ProxyHeader, ProxyVersion } from './proxy-protocol.ts';
export { httpRefusal } from './refusals.ts';
export type { Backend, FindRoute, Route } from './routes.ts';
