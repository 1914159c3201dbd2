/** Checks that a control plane accepts a node of this machine, and prints the commands that allow it. */

import { isIPv4 } from 'node:net';
import { shellWord } from '@hangar/core/command-line';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import type { NodesSettings, TenantObject } from '../kinds.ts';
import { NodeNetwork } from '../machine/index.ts';
import type { NodeAddresses } from '../machine/index.ts';
import { quoted } from '../terminal/plain-text.ts';

export interface NodePlace {
  /** Name of the control plane. */
  readonly controlPlane: string;
  readonly network: Pick<NodeNetwork, 'nodeNetwork' | 'networks'>;
  readonly addresses: NodeAddresses;
}

/** Throws `Failed` if nodes are disabled, or if the server may not connect to the addresses of the node or of its pods. */
export function insistOnNetworks({ spec, status }: TenantObject, place: NodePlace): void {
  const { controlPlane, network, addresses } = place;
  const settings: NodesSettings = spec?.nodes ?? {};
  const allowed = settings.networks ?? [];
  const wanted = [network.nodeNetwork, addresses.podNetwork];
  const outside = wanted.filter((one) => !allowed.some((other) => contains(other, one)));
  if (settings.enabled && outside.length === 0) return;
  const services = status?.nodes?.serviceCIDR;
  const suggested = [...network.networks, ...wanted, ...(services === undefined ? [] : [services])];
  const added = suggested.filter((one) => !allowed.some((other) => contains(other, one)));
  const networks = [...new Set([...allowed, ...added])];
  const patch = JSON.stringify({ spec: { virtual: { nodes: { enabled: true, networks } } } });
  const problem = settings.enabled
    ? `control plane ${quoted(controlPlane)} does not allow connections to the networks of this node: ${outside.join(', ')}`
    : `control plane ${quoted(controlPlane)} does not accept nodes`;
  throw failed(problem, {
    next: [
      'to allow this node, with the kubeconfig of the management plane:',
      `kubectl patch controlplane ${controlPlane} --type merge -p ${shellWord(patch)}`,
      `or create another control plane: ${hangar(`create NAME --node-networks ${networks.join(',')}`)}`,
    ].join('\n'),
  });
}

/** Returns the numbers of the networks that the control plane allows for nodes, so that it accepts a node that is started again. */
export const allowedNumbers = ({ spec }: TenantObject): number[] =>
  (spec?.nodes?.networks ?? []).map((one) => NodeNetwork.numberOf(one)).filter((number) => number !== undefined);

/** Reports whether an IPv4 network contains another one. */
export function contains(outer: string, inner: string): boolean {
  const [wide, narrow] = [parse(outer), parse(inner)];
  if (!wide || !narrow || wide.prefix > narrow.prefix) return false;
  const size = 2 ** (32 - wide.prefix);
  return Math.floor(wide.address / size) === Math.floor(narrow.address / size);
}

function parse(cidr: string): { readonly address: number; readonly prefix: number } | undefined {
  const [address = '', prefix = ''] = cidr.split('/');
  if (!isIPv4(address) || !/^\d{1,2}$/.test(prefix) || Number(prefix) > 32) return undefined;
  return { address: address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0), prefix: Number(prefix) };
}

/** Throws `Failed` if the address of the control plane leads back to the node itself. */
export function insistOnReachable(controlPlane: string, endpoint: string): void {
  const { hostname } = new URL(endpoint);
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return;
  throw failed(
    `nodes cannot reach control plane ${quoted(controlPlane)} at ${endpoint}: each node has its own loopback address`,
    { next: `restart the server with an address that nodes reach: ${hangar('up --listen 0.0.0.0:6443')}` },
  );
}
