/**
 * Providers of clusters. Each provider watches its source and reports changes; it does not open clusters.
 *
 *   kubeconfigSecrets          labelled secrets                              kubeconfigFiles   files and folders
 *   clusterApi                 Cluster API's clusters                        namespaces        namespaces of one cluster
 *   controlPlaneEndpoint       ControlPlaneEndpoints                         hangarWildcard    a Hangar's tenants, on one stream
 *   controlPlaneRegistration   ControlPlaneRegistrations for a service       single, fixed     clusters that are known in advance
 *   miloProjects               Milo's projects                               multi             several of these
 */

export { withAddress } from './address.ts';
export { clusterApi } from './cluster-api.ts';
export type { ClusterApiOptions, ClusterApiVersion } from './cluster-api.ts';
export { controlPlaneEndpoint } from './control-plane-endpoint.ts';
export type { ControlPlaneEndpointOptions } from './control-plane-endpoint.ts';
export { addressOf, byAge, controlPlaneOf, resolvedSecretOf } from './control-plane-kinds.ts';
export { controllerManagerLost, endpointServices, serviceIncluded, servicesAnnotation } from './control-plane-kinds.ts';
export { ControlPlaneEndpoint, ControlPlaneRegistration } from './control-plane-kinds.ts';
export type { AddressType, ControllerManagerReference } from './control-plane-kinds.ts';
export type { EndpointObject, RegistrationObject } from './control-plane-kinds.ts';
export { controlPlaneRegistration } from './control-plane-registration.ts';
export type { ControlPlaneRegistrationOptions } from './control-plane-registration.ts';
export { fixed, knownCluster, single } from './fixed.ts';
export type { ClusterOrMaker } from './fixed.ts';
export { hangarWildcard } from './hangar-wildcard.ts';
export type { HangarWildcardOptions } from './hangar-wildcard.ts';
export type { ManagementOptions } from './informed.ts';
export { kubeconfigFiles } from './kubeconfig-files.ts';
export type { KubeconfigFilesOptions } from './kubeconfig-files.ts';
export { kubeconfigSecretLabel, kubeconfigSecrets } from './kubeconfig-secrets.ts';
export type { KubeconfigSecretsOptions } from './kubeconfig-secrets.ts';
export { miloProjects } from './milo-projects.ts';
export type { MiloProjectsOptions } from './milo-projects.ts';
export { multi } from './multi.ts';
export type { MultiOptions } from './multi.ts';
export { namespaces } from './namespaces.ts';
export type { NamespacesOptions } from './namespaces.ts';
export type { ClusterOptions } from './open-cluster.ts';
export { secretTemplate } from './secret-template.ts';
