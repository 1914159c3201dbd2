/**
 * NetworkPolicies of the components:
 *
 * | pods                    | from                                        | to                        |
 * |-------------------------|---------------------------------------------|---------------------------|
 * | etcd                    | kube-apiserver and the operator (2379), etcd (2379 and 2380) | etcd, DNS |
 * | kube-apiserver          | everywhere (API port, konnectivity agents)  | not limited: webhooks, issuers and kubelets can be anywhere |
 * | kube-controller-manager | nowhere                                     | kube-apiserver, DNS       |
 * | kube-scheduler          | nowhere                                     | kube-apiserver, DNS       |
 */

import { NetworkPolicy } from '@hangar/client/kinds/networking-v1';
import type { NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '@hangar/client/kinds/networking-v1';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { workloadName } from '../names.ts';
import type { Component } from '../names.ts';
import { podPortOf } from '../plane.ts';
import type { Plane } from '../plane.ts';
import { ports } from './defaults.ts';
import { metadataOf, selectorOf } from './workload.ts';

const tcp = (...numbers: readonly number[]): NetworkPolicyPort[] =>
  numbers.map((port) => ({ protocol: 'TCP' as const, port }));

const dns = { ports: [{ protocol: 'UDP' as const, port: 53 }, ...tcp(53)] };

const peer = (plane: Plane, component: Component): NetworkPolicyPeer => ({
  podSelector: { matchLabels: selectorOf(plane, component) },
});

/** The operator of a release, in any namespace: it reads the alarms of etcd. etcd still requires a certificate. */
const operator: NetworkPolicyPeer = {
  namespaceSelector: {},
  podSelector: { matchLabels: { 'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane' } },
};

const policy = (plane: Plane, component: Component, rules: Pick<NetworkPolicySpec, 'ingress' | 'egress'>): Rendered =>
  rendered(NetworkPolicy, {
    metadata: metadataOf(plane, workloadName(plane, component), component),
    spec: {
      podSelector: { matchLabels: selectorOf(plane, component) },
      policyTypes: ['Ingress', ...(rules.egress ? (['Egress'] as const) : [])],
      ...rules,
    },
  });

/** A client of the API server that receives no connections. */
const clientPolicy = (plane: Plane, component: Component): Rendered =>
  policy(plane, component, { egress: [{ to: [peer(plane, 'kube-apiserver')], ports: tcp(podPortOf(plane)) }, dns] });

export const networkPolicies = {
  etcd: (plane: Plane): Rendered =>
    policy(plane, 'etcd', {
      ingress: [
        { from: [peer(plane, 'kube-apiserver'), operator], ports: tcp(ports.etcdClient) },
        { from: [peer(plane, 'etcd')], ports: tcp(ports.etcdClient, ports.etcdPeer) },
      ],
      egress: [{ to: [peer(plane, 'etcd')], ports: tcp(ports.etcdClient, ports.etcdPeer) }, dns],
    }),
  apiServer: (plane: Plane): Rendered =>
    policy(plane, 'kube-apiserver', {
      ingress: [{ ports: tcp(podPortOf(plane), ...(plane.hasKonnectivity ? [ports.konnectivityAgents] : [])) }],
    }),
  controllerManager: (plane: Plane): Rendered => clientPolicy(plane, 'kube-controller-manager'),
  scheduler: (plane: Plane): Rendered => clientPolicy(plane, 'kube-scheduler'),
};
