/** Limits of the tunnel of one control plane. */

export interface TunnelLimits {
  readonly agentsMax: number;
  /** Open connections and connections being opened, through all agents. */
  readonly connectionsMax: number;
  /** Bytes of one packet. Agents read at most 4 KiB at once from a target. */
  readonly packetBytesMax: number;
  /** Bytes that one connection may hold for its reader before the agent's stream is paused. */
  readonly connectionBytesMax: number;
  /** Bytes that all connections may hold for their readers before the streams of all agents are paused. */
  readonly heldBytesMax: number;
  /** Time that a reader may keep an agent's stream paused while other connections of that agent wait. */
  readonly stallMs: number;
  /** Time for the agent to answer a dial. The agent itself gives up after 5 seconds. */
  readonly dialMs: number;
  /** Packets without use that one agent may send: a burst, and a rate per second. */
  readonly uselessPackets: { readonly burst: number; readonly perSecond: number };
  /** Packets that are handled in one turn of the event loop. */
  readonly packetsPerTurn: number;
}

export const defaultLimits: TunnelLimits = {
  agentsMax: 128,
  connectionsMax: 1_000,
  packetBytesMax: 256 * 1024,
  connectionBytesMax: 256 * 1024,
  heldBytesMax: 16 * 1024 * 1024,
  stallMs: 5_000,
  dialMs: 10_000,
  uselessPackets: { burst: 2_000, perSecond: 100 },
  packetsPerTurn: 500,
};
