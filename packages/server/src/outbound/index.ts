/** outbound: all outgoing calls of the server, restricted to allowed addresses. */

export { AddressPolicy, parseCidr } from './address-policy.ts';
export type { AddressRule } from './address-policy.ts';
export { AnswerBudget } from './answer-budget.ts';
export type { ClusterDialer, DialTarget } from './cluster-network.ts';
export type { Destination, DirectTlsOptions, Resolver, TlsIdentity } from './connector.ts';
export { OutboundError } from './errors.ts';
export type { OutboundErrorCode } from './errors.ts';
export { NameLookups, TotalLookups } from './name-lookups.ts';
export { Outbound } from './outbound.ts';
export type { NodeConnectOptions, OutboundAnswer, OutboundOptions, OutboundRequest } from './outbound.ts';
export { ServiceResolver } from './service-resolver.ts';
export type { ServiceReference, ServiceTarget } from './service-resolver.ts';
