/**
 * The kind TLSRoute of the Gateway API, with the fields that are used here, and the version that a management plane serves. The Gateway API
 * may be installed and removed at any time; its definition replaces discovery.
 */

import { defineKind } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { isBeingDeleted, isConditionTrue, kindOptions } from '@hangar/runtime';
import { allTransforms, withoutLastApplied, withoutManagedFields } from '@hangar/runtime';
import type { Condition, KindOptions } from '@hangar/runtime';

export interface ParentReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  /** Absent: that of the route. */
  readonly namespace?: string;
}

export interface BackendReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly port?: number;
}

export interface TlsRouteSpec {
  readonly parentRefs?: readonly ParentReference[];
  readonly hostnames?: readonly string[];
  readonly rules?: readonly { readonly backendRefs?: readonly BackendReference[] }[];
}

export interface RouteParentStatus {
  readonly parentRef: ParentReference;
  readonly controllerName?: string;
  readonly conditions?: readonly Condition[];
}

export interface TlsRoute extends ApiObject {
  spec?: TlsRouteSpec;
  status?: { readonly parents?: readonly RouteParentStatus[] };
}

export const gatewayGroup = 'gateway.networking.k8s.io';
export const definitionName = `tlsroutes.${gatewayGroup}`;

/** Preferred first. The used fields are the same in all. */
const versions = ['v1', 'v1alpha3', 'v1alpha2'];

export const tlsRoute = (version: string): Kind<TlsRoute> =>
  defineKind<TlsRoute>({
    apiVersion: `${gatewayGroup}/${version}`,
    kind: 'TLSRoute',
    plural: 'tlsroutes',
    isNamespaced: true,
  });

/** Undefined: none is usable now. A definition that is being deleted takes its routes with it. */
export function servedRoute(definition: CustomResourceDefinition | undefined): Kind<TlsRoute> | undefined {
  if (!definition || isBeingDeleted(definition)) return undefined;
  if (!isConditionTrue(definition.status?.conditions, 'Established')) return undefined;
  const isServed = (version: string): boolean =>
    definition.spec.versions.some(({ name, served }) => served && name === version);
  const version = versions.find(isServed);
  return version === undefined ? undefined : tlsRoute(version);
}

/** Keeps only this definition, without schemas. */
export const definitionCache: KindOptions = kindOptions(CustomResourceDefinition, {
  fieldSelector: `metadata.name=${definitionName}`,
  transform: allTransforms(withoutManagedFields, withoutLastApplied, withoutSchemas),
});

function withoutSchemas(definition: CustomResourceDefinition): CustomResourceDefinition {
  const versions = definition.spec.versions.map(({ name, served, storage }) => ({ name, served, storage }));
  return { ...definition, spec: { ...definition.spec, versions } };
}
