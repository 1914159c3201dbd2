/** The objects inside a control plane that its nodes need: see README.md. */

export { nthAddress } from './addresses.ts';
export { argumentsOf } from './arguments.ts';
export { clusterInfo } from './cluster-info.ts';
export { corednsObjects } from './coredns.ts';
export type { CorednsOptions } from './coredns.ts';
export { NodeObjectsError } from './errors.ts';
export type { NodeObjectsErrorCode } from './errors.ts';
export { joinObjects, kubeletConfiguration, nodeBootstrappers } from './join.ts';
export type { JoinOptions } from './join.ts';
export { konnectivityAgentObjects, konnectivityAgentName, konnectivityAudience } from './konnectivity-agent.ts';
export type { KonnectivityAgentOptions } from './konnectivity-agent.ts';
export { kubeProxyObjects } from './kube-proxy.ts';
export type { KubeProxyOptions } from './kube-proxy.ts';
export { dnsAddress } from './network.ts';
export type { ClusterNetwork } from './network.ts';
export type { PodSettings } from './pods.ts';
export { rendered } from './rendered.ts';
export type { Rendered } from './rendered.ts';
