/**
 * The operator of hosted control planes: a control-plane provider of Cluster API, which also works without Cluster API.
 *
 *   api/             types, kinds and names; the definitions are generated from them
 *   render/          from a control plane to the objects of its components
 *   pki/             authorities, certificates and kubeconfigs in Secrets
 *   control-plane/   the reconciler: its README lists the phases
 *   gateway/         the Gateway API: listeners, endpoints
 *   front-door/      host names at the front door, its routes, and the front door on one manager
 *   cert-manager/    Issuers and Certificates of cert-manager
 *   workload/        objects inside the control plane
 *   metrics/         metrics of control planes
 *   etcd/            takes care of etcd: its members, alarms and sizes
 *   backup/          exports of control planes, and the target of backups and restores
 *   restore/         restores in place and into new control planes
 *   replica/         control planes that follow a tenant behind a fence, for migrations
 *   autoscaling/     the number of API servers follows their load
 *   operator.ts      the controller on one manager
 *   admission.ts     the validating webhook
 *   served-apis.ts   the optional APIs of a management cluster
 *   preview.ts       what the newest rendering changes, for `hangar hosted diff`
 *   rbac.ts          the rights that it needs
 */

export * from './api/index.ts';
export { HostedError } from './errors.ts';
export type { HostedErrorCode } from './errors.ts';
export { definitions } from './api/generated/index.ts';
export * from './render/index.ts';
export { hostedWebhooks } from './admission.ts';
export { previewChanges, previewObjects } from './preview.ts';
export type { ObjectChange, PreviewOptions } from './preview.ts';
export { frontDoorManager } from './front-door/manager.ts';
export type { FrontDoorManagerOptions } from './front-door/manager.ts';
export type { FrontDoorSettings } from './front-door/settings.ts';
export { hostedTarget } from './backup/target.ts';
export type { HostedTargetOptions } from './backup/target.ts';
export { hostedReplicas, ReplicaError } from './replica/index.ts';
export type { HostedReplica, HostedReplicasOptions, HostedReplicaState } from './replica/index.ts';
export { hostedOperator } from './operator.ts';
export type { HostedOperatorOptions } from './operator.ts';
export { hostedBackupRules } from './rbac.ts';
export { certManagerRules, clusterApiRules, electionRules, frontDoorRules, gatewayRules, hostedRules } from './rbac.ts';
export { servedApis } from './served-apis.ts';
export type { ServedApis } from './served-apis.ts';
