/**
 * ControlPlaneEndpoints as a fleet, for installations without registrations.
 *
 *   cluster    the endpoint's name, for the services that its annotation (or label) lists: `controllers` where there is none
 *   address    status.endpoint, else spec.endpoint
 *   secret     by a template; may not exist
 */

import {
  addressOf,
  ControlPlaneEndpoint,
  endpointServices,
  secretTemplate,
  servicesAnnotation,
} from '@hangar/runtime/clusters';
import type { EndpointObject } from '@hangar/runtime/clusters';
import type { Fleet } from '../contract.ts';
import { informedFleet } from './informed-fleet.ts';
import type { FleetOptions } from './informed-fleet.ts';
import { inScope, labelsOf } from './scope.ts';
import { serviceSet } from './service-sets.ts';

export interface EndpointFleetOptions extends FleetOptions {
  /** Template of the runtime. Absent: `{namespace}/controlplane-{name}-kubeconfig`. */
  readonly secretTemplate?: string | undefined;
}

/** Throws `InvalidOptions` for an invalid template. */
export function endpointFleet(options: EndpointFleetOptions): Fleet {
  const { namespaceScope } = options;
  const secretOf = secretTemplate(options.secretTemplate, namespaceScope);
  return informedFleet(options, {
    kind: ControlPlaneEndpoint,
    reduce: reducedEndpoint,
    clusterOf: ({ metadata }) => metadata.name!,
    candidateOf: (endpoint) => ({
      source: { kind: 'ControlPlaneEndpoint', name: endpoint.metadata.name!, uid: endpoint.metadata.uid ?? '' },
      services: serviceSet(endpointServices(endpoint)),
      labels: labelsOf(endpoint.metadata.labels),
      address: addressOf(endpoint, 'internal') || undefined,
      ...inScope(secretOf(endpoint.metadata.name!), namespaceScope),
    }),
  });
}

/** Keeps only the fields that are read above. */
function reducedEndpoint(endpoint: EndpointObject): EndpointObject | undefined {
  const { apiVersion, kind, metadata } = endpoint;
  const { name, uid, resourceVersion, labels, annotations, deletionTimestamp } = metadata;
  if (deletionTimestamp || serviceSet(endpointServices(endpoint)).size === 0) return undefined;
  const said = annotations?.[servicesAnnotation];
  const address = addressOf(endpoint, 'internal');
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(labels ? { labels } : {}),
      ...(said === undefined ? {} : { annotations: { [servicesAnnotation]: said } }),
    },
    ...(address === '' ? {} : { spec: { endpoint: address } }),
  } as EndpointObject;
}
