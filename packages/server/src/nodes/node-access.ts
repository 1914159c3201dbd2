/** Access of one control plane to its nodes: connections, their limit, and the streams that end with the control plane. */

import type { Clock } from '@hangar/core';
import { DirectDialer } from './dialer.ts';
import type { NodeDialer } from './dialer.ts';
import { NodeConnections } from './node-connections.ts';
import type { NodeCredentials } from './node-connections.ts';
import { NameLookups } from '../outbound/index.ts';
import type { Outbound } from '../outbound/index.ts';
import { StreamLimit } from './stream-limit.ts';
import { NodeTotals } from './totals.ts';

/** Settings of the nodes of a control plane. */
export interface NodeOptions {
  /** Networks (CIDR) in which addresses of nodes, pods and services may lie. Undefined or empty: no direct connections. */
  readonly networks?: () => readonly string[] | undefined;
  /** Credentials for kubelets; absent: this control plane has no nodes. */
  readonly credentials?: () => NodeCredentials;
  /** Address types of Nodes in order of preference; absent: the default. */
  readonly preferredAddressTypes?: readonly string[];
  /** Replaces direct connections. */
  readonly dialer?: NodeDialer;
  /** Returns the tunnel while an agent is connected. It then opens all connections. */
  readonly tunnel?: () => NodeDialer | undefined;
  /** Limits of all control planes of the process. */
  readonly totals?: Pick<NodeTotals, 'streams' | 'lookups'>;
  /** Connections that may be open at the same time. */
  readonly streamsMax?: number;
}

export interface NodeAccessOptions extends NodeOptions {
  readonly plane: string;
  readonly outbound: Outbound;
  readonly clock: Clock;
}

/** As kubeadm configures kube-apiserver: names of nodes usually do not resolve where this server runs. */
const defaultAddressTypes = ['InternalIP', 'ExternalIP', 'Hostname'];
const defaultStreamsMax = 256;

/** One request that a node, a pod or a service answers. */
export interface NodeStream {
  /** Aborted when the control plane closes or is suspended. */
  readonly signal: AbortSignal;
  /** Ends the count. */
  end(): void;
}

export class NodeAccess {
  readonly connections: NodeConnections;
  readonly preferredAddressTypes: readonly string[];
  readonly #limit: StreamLimit;
  readonly #streams = new Set<AbortController>();
  #isClosed = false;

  constructor(options: NodeAccessOptions) {
    const { plane, outbound, clock, networks = () => undefined, credentials = () => undefined } = options;
    const { streams, lookups } = options.totals ?? new NodeTotals();
    const direct: NodeDialer =
      options.dialer ??
      new DirectDialer({ plane, outbound, networks, lookups: new NameLookups({ plane, clock, total: lookups }) });
    const current = (): NodeDialer => options.tunnel?.() ?? direct;
    const dialer: NodeDialer = {
      dial: (target) => current().dial(target),
      dialTls: (target, tls) => current().dialTls?.(target, tls),
    };
    this.connections = new NodeConnections({ dialer, credentials, clock });
    this.preferredAddressTypes = options.preferredAddressTypes ?? defaultAddressTypes;
    const max = options.streamsMax ?? defaultStreamsMax;
    this.#limit = new StreamLimit(max, plane, streams);
  }

  /** Number of open streams. */
  get open(): number {
    return this.#limit.open;
  }

  /** Throws 429 if too many streams are open. The caller must call `end`. */
  begin(): NodeStream {
    const leave = this.#limit.enter();
    const ending = new AbortController();
    this.#streams.add(ending);
    if (this.#isClosed) ending.abort();
    return {
      signal: ending.signal,
      end: () => {
        this.#streams.delete(ending);
        leave();
      },
    };
  }

  /** Ends all open streams; new ones may start. */
  endStreams(): void {
    for (const ending of this.#streams) ending.abort();
  }

  close(): void {
    this.#isClosed = true;
    this.endStreams();
    this.connections.close();
  }
}
