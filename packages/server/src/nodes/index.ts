/**
 * nodes: requests that a kubelet, a pod or a service answers.
 *
 *   dialer.ts            connections into the network of the nodes: direct, or through `tunnel/`
 *   node-access.ts       the access of one control plane: connections, limits, end of streams
 *   targets.ts           objects and addresses that a request refers to
 *   backend-exchange.ts  one request to a kubelet, a pod or a service
 *   pod-log.ts pod-streams.ts proxies.ts    the subresources
 */

export { podLog } from './pod-log.ts';
export { podStream } from './pod-streams.ts';
export { nodeProxy, podProxy, serviceProxy } from './proxies.ts';
