/** control-plane: the controller of ControlPlanes. README.md lists its steps. */

export { addControlPlaneController, controlPlaneCaches } from './controller.ts';
export type { ControlPlaneControllerOptions } from './controller.ts';
export { tenantsOf } from './tenants.ts';
