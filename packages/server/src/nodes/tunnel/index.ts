/**
 * tunnel: connections to nodes behind NAT, through konnectivity agents.
 *
 *   tunnel.ts agents.ts      the tunnel server of one control plane; the choice between its agents: read these first
 *   agent.ts connection.ts   one agent with its back-pressure; one connection
 *   packets.ts               the protocol
 *   limits.ts held-bytes.ts  limits of a control plane
 */

export type { TunnelLimits } from './limits.ts';
export { isAgentRequest, Tunnel } from './tunnel.ts';
export type { TunnelOptions } from './tunnel.ts';
