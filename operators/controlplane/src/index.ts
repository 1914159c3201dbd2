/**
 * The operator of control planes: the group controlplane.kplane.dev.
 *
 *   api/             types, kinds and names; the definitions are generated from them
 *   class/           ControlPlaneClass
 *   endpoint/        ControlPlaneEndpoint: resolution, the provider contract, the built-in provider
 *   registration/    ControlPlaneRegistration
 *   control-plane/   ControlPlane, with host/, dedicated/, kubeconfig/, addons/, join/, gateway/
 *   operator.ts      all of them, composed on one manager
 *   rbac.ts          the rights that it needs
 */

export * from './api/index.ts';
export { definitions } from './api/generated/index.ts';
export { InstallError, installDefinitions } from './api/install.ts';
export type { InstallOptions } from './api/install.ts';
export { addressList, resolveAddresses } from './endpoint/resolve.ts';
export type { ResolvedAddresses } from './endpoint/resolve.ts';
export * from './host/index.ts';
export type { DedicatedPlatform } from './dedicated/platform.ts';
export type { MigrationPlatform } from './migration/controller.ts';
export type * from './migration/contract.ts';
export { activeRecord, servingMode } from './migration/record.ts';
export { controlPlaneOperator } from './operator.ts';
export type { OperatorOptions } from './operator.ts';
export { electionRules, hostRules, operatorRules } from './rbac.ts';
