/** The hosted control planes of controlplane.cluster.x-k8s.io/v1alpha1: types, kinds, names. */

export type * from './audit.ts';
export type * from './autoscaling.ts';
export type * from './containers.ts';
export type * from './etcd.ts';
export type * from './oidc.ts';
export type {
  APIServerSpec,
  CertificatesSpec,
  ControlPlaneEndpoint,
  DeploymentSpec,
  EtcdMemberRole,
  EtcdMemberStatus,
  FrontDoorSpec,
  FrontDoorStatus,
  GatewayReference,
  HostedControlPlaneInlineSpec,
  HostedControlPlaneSpec,
  HostedControlPlaneStatus,
  KubeProxySpec,
  KubernetesVersion,
  ServiceSpec,
  ServiceType,
} from './hosted-control-plane.ts';
export type { HostedControlPlaneTemplateSpec } from './hosted-control-plane-template.ts';
export { HostedControlPlane, HostedControlPlaneTemplate } from './kinds.ts';
export * from './names.ts';
export { isFenced, replicaHoldOf, replicaOf, replicaStateOf } from './replica-state.ts';
export type { ReplicaHold, ReplicaPhase, ReplicaState } from './replica-state.ts';
