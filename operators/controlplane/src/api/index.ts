/** The API group controlplane.kplane.dev/v1alpha1: types, kinds, names. */

export type { Condition, ConditionStatus } from './condition.ts';
export type * from './references.ts';
export type { DedicatedSpec } from './dedicated.ts';
export type { MigrationOutcome, MigrationSpec, MigrationStatus, MigrationStep } from './migration.ts';
export type { NodesSpec } from './nodes.ts';
export type { PromotionMode, PromotionSpec, PromotionThresholds, ReturnThresholds } from './promotion.ts';
export type {
  AddressKind,
  ControlPlaneAddress,
  ControlPlaneMode,
  ControlPlanePhase,
  ControlPlaneSpec,
  ControlPlaneStatus,
  DeletionPolicy,
  EndpointPolicy,
  VirtualSpec,
} from './control-plane.ts';
export type {
  ClassAuth,
  ClassGateway,
  ClassRegistration,
  ControlPlaneClassSpec,
  ControlPlaneClassStatus,
  GatewayReference,
  ServiceReference,
} from './control-plane-class.ts';
export type { ControlPlaneEndpointSpec, ControlPlaneEndpointStatus } from './control-plane-endpoint.ts';
export type {
  ControlPlaneRegistrationSpec,
  ControlPlaneRegistrationStatus,
  RegistrationMode,
} from './control-plane-registration.ts';
export { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint, ControlPlaneRegistration } from './kinds.ts';
export * from './names.ts';
