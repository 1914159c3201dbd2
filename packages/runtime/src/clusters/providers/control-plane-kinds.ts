/**
 * The kinds that describe control planes, limited to the fields that are read here: ControlPlaneEndpoints have the address,
 * ControlPlaneRegistrations the services. Objects of other writers may lack any field, or have it empty.
 */

import { defineKind } from '@hangar/client';
import type { ApiObject, ObjectKey } from '@hangar/client';
import type { ClusterName } from '../../cluster.ts';
import type { Condition } from './kinds.ts';

export type AddressType = 'internal' | 'external' | 'join';

export interface Addresses {
  readonly endpoint?: string;
  readonly externalEndpoint?: string;
  readonly joinEndpoint?: string;
}

export interface EndpointObject extends ApiObject {
  spec?: Addresses;
  status?: Addresses & {
    readonly controllerManager?: ControllerManagerReference | null;
    readonly conditions?: readonly Condition[] | null;
  };
}

export const ControlPlaneEndpoint = defineKind<EndpointObject>({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlaneEndpoint',
  plural: 'controlplaneendpoints',
  isNamespaced: false,
});

/** Names the Leases that the replicas of a controller manager renew while they run. */
export interface ControllerManagerReference {
  readonly leaseNamespace: string;
  readonly leaseGroup: string;
  /** Static shard that serves the object. Absent: any replica of the group. */
  readonly shard?: string;
}

/** The reason of the conditions of a service whose controller manager no longer renews its Leases. The operator sets it. */
export const controllerManagerLost = 'ControllerManagerLost';

/** Annotation or label of ControlPlaneEndpoints with a comma-separated list of the services that run for the control plane. */
export const servicesAnnotation = 'controlplane.kplane.dev/services';

/** Returns the services of an endpoint in lower case. Absent annotation: `controllers`. */
export function endpointServices({ metadata }: Pick<EndpointObject, 'metadata'>): readonly string[] {
  const said = metadata.annotations?.[servicesAnnotation] ?? metadata.labels?.[servicesAnnotation];
  return said === undefined ? ['controllers'] : said.split(',').map((one) => one.trim().toLowerCase());
}

export interface RegistrationObject extends ApiObject {
  spec?: {
    readonly controlPlaneRef?: { readonly name?: string };
    readonly services?: readonly string[] | null;
    readonly mode?: string;
  };
  status?: {
    readonly ready?: boolean;
    readonly resolvedEndpoint?: string;
    readonly resolvedKubeconfigSecretRef?: { readonly name?: string; readonly namespace?: string };
    readonly observedGeneration?: number;
    readonly controllerManager?: ControllerManagerReference | null;
    readonly conditions?: readonly Condition[] | null;
  };
}

/** Reason of `Ready` of a registration whose control plane runs its services itself. Controller managers do not serve it. */
export const serviceIncluded = 'ServiceIncluded';

export const ControlPlaneRegistration = defineKind<RegistrationObject>({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlaneRegistration',
  plural: 'controlplaneregistrations',
  isNamespaced: false,
});

/** Returns the address of an endpoint: from the status, which an endpoint provider sets, or from the spec. '' when neither has one. */
export function addressOf({ spec, status }: Pick<EndpointObject, 'spec' | 'status'>, type: AddressType): string {
  const said = (field: keyof Addresses): string | undefined => status?.[field] || spec?.[field];
  // Treats empty as absent: providers in Go may write an empty field.
  const internal = said('endpoint') || '';
  if (type === 'internal') return internal;
  const external = said('externalEndpoint') || internal;
  return type === 'external' ? external : said('joinEndpoint') || external;
}

/** Returns the name of the control plane of a registration, or ''. */
export const controlPlaneOf = ({ spec }: Pick<RegistrationObject, 'spec'>): ClusterName =>
  spec?.controlPlaneRef?.name ?? '';

/** Returns the key of the kubeconfig Secret in the status of a registration. */
export function resolvedSecretOf({ status }: Pick<RegistrationObject, 'status'>): ObjectKey | undefined {
  const { name, namespace } = status?.resolvedKubeconfigSecretRef ?? {};
  return name && namespace ? { namespace, name } : undefined;
}

/** Compares objects for sorting: oldest first, then by name. */
export function byAge({ metadata: one }: ApiObject, { metadata: other }: ApiObject): number {
  const times = [one.creationTimestamp ?? '', other.creationTimestamp ?? ''] as const;
  if (times[0] !== times[1]) return times[0] < times[1] ? -1 : 1;
  return one.name! < other.name! ? -1 : 1;
}
