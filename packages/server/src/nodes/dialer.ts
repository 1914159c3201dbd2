/** Opens connections into the network of a plane's nodes: directly, to addresses in the networks that the platform administrator named. */

import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { quote } from '@hangar/api';
import { OutboundError, parseCidr } from '../outbound/index.ts';
import type {
  AddressRule,
  ClusterDialer,
  DialTarget,
  DirectTlsOptions,
  NameLookups,
  NodeConnectOptions,
  Outbound,
} from '../outbound/index.ts';

export type { DialTarget };

/** Returns `host:port`, with brackets for IPv6. */
export const addressOf = ({ host, port }: DialTarget): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Opens connections into the network of a plane's nodes: to kubelets, pods and services. */
export interface NodeDialer extends ClusterDialer {
  /**
   * Opens a connection from this process and starts TLS, in one socket. Resolves before the handshake. Absent or undefined: `dial` opens the
   * connection.
   */
  dialTls?(target: DialTarget, tls: DirectTlsOptions): Promise<TLSSocket> | undefined;
}

export interface DirectDialerOptions {
  /** Name of the control plane, for messages. */
  readonly plane: string;
  readonly outbound: Pick<Outbound, 'openTcp' | 'openTls'>;
  /** Networks (CIDR) of the plane's nodes, pods and services; read for each connection. Absent or empty: none. */
  readonly networks: () => readonly string[] | undefined;
  /** Limits the lookups of names of nodes. */
  readonly lookups: NameLookups;
}

const connectTimeoutMs = 10_000;

/**
 * Connects from this process. A tenant chooses the addresses of its nodes, so an address must lie in `networks`, which only the platform
 * administrator sets, and the outbound policy must allow it: loopback, link-local, metadata and own addresses of this machine stay refused.
 */
export class DirectDialer implements NodeDialer {
  readonly #options: DirectDialerOptions;
  #rule: { readonly networks: readonly string[]; readonly rule: AddressRule } | undefined;

  constructor(options: DirectDialerOptions) {
    this.#options = options;
  }

  async dial(target: DialTarget): Promise<Duplex> {
    return this.#options.outbound.openTcp(target, this.#checks(target));
  }

  dialTls(target: DialTarget, tls: DirectTlsOptions): Promise<TLSSocket> | undefined {
    return this.#options.outbound.openTls(target, tls, this.#checks(target));
  }

  /** Throws `Refused` if no network is configured. */
  #checks({ signal }: DialTarget): NodeConnectOptions {
    const { networks, plane, lookups } = this.#options;
    const current = networks() ?? [];
    if (current.length === 0) throw noNetworks(plane);
    if (this.#rule?.networks !== current) this.#rule = { networks: current, rule: networksRule(plane, current) };
    return { rule: this.#rule.rule, timeoutMs: connectTimeoutMs, signal, lookups };
  }
}

const noNetworks = (plane: string): OutboundError =>
  new OutboundError(
    'Refused',
    `this server does not connect to nodes of control plane ${quote(plane)}: spec.nodes.networks is empty, and no tunnel agent is connected`,
  );

function networksRule(plane: string, networks: readonly string[]): AddressRule {
  const list = new BlockList();
  for (const network of networks) list.addSubnet(...parseCidr(network));
  return {
    refusal(address) {
      const version = isIP(address);
      if (version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')) return undefined;
      const why = `the address is not in spec.nodes.networks of control plane ${quote(plane)}`;
      return new OutboundError('Refused', `dial tcp ${address}: ${why}`);
    },
  };
}
