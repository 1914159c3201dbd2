/**
 * ControlPlaneRegistrations as a fleet, as the operator resolves them.
 *
 *   cluster    spec.controlPlaneRef.name, for those of spec.services that are ours, in any case and mode
 *   address    status.resolvedEndpoint
 *   secret     status.resolvedKubeconfigSecretRef; the last one while there is none
 *
 * A registration that is being deleted counts as gone, and so does one whose control plane runs the services itself: the last known address
 * would lead a second set of controllers to it. A status of an older generation is ignored: it may be about another control plane,
 * and two managers would work on that.
 */

import { controlPlaneOf, ControlPlaneRegistration, resolvedSecretOf, serviceIncluded } from '@hangar/runtime/clusters';
import type { RegistrationObject } from '@hangar/runtime/clusters';
import type { Fleet } from '../contract.ts';
import type { Candidate } from './compose.ts';
import { informedFleet } from './informed-fleet.ts';
import type { FleetOptions } from './informed-fleet.ts';
import { inScope, labelsOf } from './scope.ts';
import { serviceSet } from './service-sets.ts';

export const registrationFleet = (options: FleetOptions): Fleet =>
  informedFleet(options, {
    kind: ControlPlaneRegistration,
    reduce: reducedRegistration,
    clusterOf: controlPlaneOf,
    candidateOf: (registration) => candidateOf(registration, options.namespaceScope),
  });

/** Keeps only the fields that are read below: thousands of registrations are kept. */
function reducedRegistration(registration: RegistrationObject): RegistrationObject | undefined {
  const { apiVersion, kind, metadata, spec, status } = registration;
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels } = metadata;
  const controlPlane = controlPlaneOf(registration);
  const services = registeredServices(registration);
  if (deletionTimestamp || controlPlane === '' || services.size === 0) return undefined;
  if (isOfSpec(registration) && isIncluded(registration)) return undefined;
  const { resolvedEndpoint, resolvedKubeconfigSecretRef } = isOfSpec(registration) ? (status ?? {}) : {};
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, creationTimestamp, ...(labels ? { labels } : {}) },
    spec: { controlPlaneRef: { name: controlPlane }, services: spec!.services! },
    ...(resolvedEndpoint || resolvedKubeconfigSecretRef
      ? { status: { resolvedEndpoint, resolvedKubeconfigSecretRef } }
      : {}),
  } as RegistrationObject;
}

/** A status without observedGeneration counts as current. */
const isOfSpec = ({ metadata, status }: RegistrationObject): boolean =>
  (status?.observedGeneration ?? Infinity) >= (metadata.generation ?? 0);

const isIncluded = ({ status }: RegistrationObject): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === serviceIncluded) ?? false;

export const registeredServices = ({ spec }: RegistrationObject) => serviceSet(spec?.services ?? []);

function candidateOf(registration: RegistrationObject, scope: string | undefined): Candidate {
  const { name, uid, labels } = registration.metadata;
  return {
    source: { kind: 'ControlPlaneRegistration', name: name!, uid: uid ?? '' },
    services: registeredServices(registration),
    labels: labelsOf(labels),
    address: registration.status?.resolvedEndpoint || undefined,
    ...inScope(resolvedSecretOf(registration), scope),
  };
}
