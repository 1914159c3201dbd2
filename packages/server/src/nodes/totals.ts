/** Limits and metrics of the connections to nodes of all control planes of a process. */

import { TotalLookups } from '../outbound/name-lookups.ts';
import { TotalStreams } from './stream-limit.ts';
import { TotalHeldBytes } from './tunnel/held-bytes.ts';

export class NodeTotals {
  readonly streams = new TotalStreams();
  readonly lookups = new TotalLookups();
  readonly heldBytes = new TotalHeldBytes();
  /** Number of connected konnectivity agents. */
  agents = 0;

  /** Returns the metrics in the Prometheus format. */
  text(): string {
    const { open, refused } = this.streams;
    return [
      metric('hangar_node_streams', 'gauge', 'Number of open requests to nodes, pods and services.', open),
      metric(
        'hangar_node_streams_refused_total',
        'counter',
        'Total number of requests to nodes, pods and services beyond a limit.',
        refused,
      ),
      metric('hangar_tunnel_agents', 'gauge', 'Number of connected konnectivity agents.', this.agents),
      metric(
        'hangar_tunnel_held_bytes',
        'gauge',
        'Bytes from konnectivity agents that wait for their readers.',
        this.heldBytes.bytes,
      ),
    ].join('\n');
  }
}

const metric = (name: string, type: 'counter' | 'gauge', help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}`;
