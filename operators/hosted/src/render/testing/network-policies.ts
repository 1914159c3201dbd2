/**
 * Evaluates NetworkPolicies as the API defines them: a connection is allowed if the policies of the source allow it to leave and those of
 * the target allow it to arrive. Pods that no policy of a direction selects are not limited in it. Addresses outside of the cluster have no
 * policies. Connections from the Node of a pod, such as probes, are always allowed and not evaluated.
 */

import { BlockList, isIP } from 'node:net';
import { labelSelectorOf } from '@hangar/api/selectors';
import type { LabelSelectorObject } from '@hangar/api/selectors';
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '@hangar/client/kinds/networking-v1';

export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
  /** Named ports of its containers. */
  readonly ports?: Readonly<Record<string, number>>;
}

/** A pod, or an address outside of the cluster. */
export type PolicyEndpoint = PolicyPod | { readonly address: string };

export interface Connection {
  readonly from: PolicyEndpoint;
  readonly to: PolicyEndpoint;
  readonly port: number;
  /** Absent: TCP. */
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
}

export interface PolicyWorld {
  readonly policies: readonly NetworkPolicy[];
  /** Labels of namespaces by name. Every namespace also has the label `kubernetes.io/metadata.name`. */
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Direction = 'Ingress' | 'Egress';

const isPod = (endpoint: PolicyEndpoint): endpoint is PolicyPod => 'labels' in endpoint;

export const isAllowed = (world: PolicyWorld, connection: Connection): boolean =>
  isAllowedIn(world, connection, 'Egress') && isAllowedIn(world, connection, 'Ingress');

function isAllowedIn(world: PolicyWorld, connection: Connection, direction: Direction): boolean {
  const [subject, peer] = direction === 'Egress' ? [connection.from, connection.to] : [connection.to, connection.from];
  if (!isPod(subject)) return true;
  const selecting = world.policies.filter((policy) => selects(policy, subject, direction));
  if (selecting.length === 0) return true;
  return selecting.some(({ metadata, spec }) =>
    rulesOf(spec!, direction).some(
      ({ peers, ports }) =>
        (!peers?.length || peers.some((one) => matchesPeer(world, one, metadata.namespace!, peer))) &&
        (!ports?.length || ports.some((one) => matchesPort(one, connection))),
    ),
  );
}

function selects({ metadata, spec }: NetworkPolicy, pod: PolicyPod, direction: Direction): boolean {
  const types = spec!.policyTypes ?? ['Ingress', ...(spec!.egress?.length ? ['Egress'] : [])];
  return metadata.namespace === pod.namespace && types.includes(direction) && matches(spec!.podSelector, pod.labels);
}

const rulesOf = (spec: NetworkPolicySpec, direction: Direction) =>
  direction === 'Ingress'
    ? (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
    : (spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));

/** An empty selector matches everything. */
const matches = (selector: unknown, labels: Readonly<Record<string, string>>): boolean =>
  labelSelectorOf((selector ?? {}) as LabelSelectorObject).matches(labels);

function matchesPeer(
  { namespaces = {} }: PolicyWorld,
  { ipBlock, podSelector, namespaceSelector }: NetworkPolicyPeer,
  ownNamespace: string,
  endpoint: PolicyEndpoint,
): boolean {
  if (ipBlock) {
    const { cidr, except = [] } = ipBlock;
    return isIn(cidr, endpoint.address) && !except.some((one) => isIn(one, endpoint.address));
  }
  if (!isPod(endpoint)) return false;
  const { namespace, labels } = endpoint;
  const known = { ...namespaces[namespace], 'kubernetes.io/metadata.name': namespace };
  const isInNamespace = namespaceSelector ? matches(namespaceSelector, known) : namespace === ownNamespace;
  return isInNamespace && matches(podSelector, labels);
}

function isIn(cidr: string, address: string): boolean {
  const [network = '', bits = '0'] = cidr.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(network) !== isIP(address)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}

/** A rule with a port name means the port of the target. */
function matchesPort(
  { port, endPort, protocol = 'TCP' }: NetworkPolicyPort,
  { to, port: actual, protocol: actualProtocol = 'TCP' }: Connection,
): boolean {
  if (protocol !== actualProtocol) return false;
  if (port === undefined) return true;
  const first = typeof port === 'number' ? port : isPod(to) ? to.ports?.[port] : undefined;
  return first !== undefined && actual >= first && actual <= (endPort ?? first);
}
