/**
 * The fleet: the clusters, their services, and how to connect to them.
 *
 *   ControlPlaneRegistrations ─┐
 *   ControlPlaneEndpoints ─────┴─ reduce ─► informer ─► candidates ─► compose ─► changed(cluster), gone(name), synced()
 *   Secrets, each by its name ──────────────────────────────────────────────────► kubeconfigs
 */

export { ofService } from './compose.ts';
export { endpointFleet } from './endpoint-fleet.ts';
export type { EndpointFleetOptions } from './endpoint-fleet.ts';
export type { FleetOptions } from './informed-fleet.ts';
export { kubeconfigsOf } from './kubeconfigs.ts';
export type { KubeconfigsOptions } from './kubeconfigs.ts';
export { registeredServices, registrationFleet } from './registration-fleet.ts';
export { serviceSet } from './service-sets.ts';
