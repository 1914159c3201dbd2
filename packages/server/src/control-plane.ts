/**
 * One control plane: a Kubernetes API with its own key range. Verbs reach everything through it, so that two control planes in one process
 * share only code.
 */

import { badRequest, quote } from '@hangar/api';
import type { Clock, Random } from '@hangar/core';
import type { Store } from '@hangar/store';
import type { Admission } from './admission/admission.ts';
import type { Policy } from './auth/authorization/rbac/policy.ts';
import type { Definitions } from './definitions/follower.ts';
import type { ControlPlaneMetrics } from './metrics/control-plane-metrics.ts';
import type { NodeAccess } from './nodes/node-access.ts';
import type { Collections } from './objects/collections.ts';
import type { Expiry } from './objects/expiry.ts';
import type { Outbound, ServiceResolver } from './outbound/index.ts';
import type { Catalogue } from './resources/catalogue.ts';
import type { Resource } from './resources/resource.ts';

export interface ControlPlane {
  /** `root` is the management plane. */
  readonly name: string;
  /** Prefix of every key of this control plane: `/registry/clusters/root/`. */
  readonly prefix: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly catalogue: Catalogue;
  readonly admission: Admission;
  readonly expiry: Expiry;
  readonly collections: Collections;
  readonly definitions: Definitions;
  /** Roles and bindings. */
  readonly policy: Policy;
  /** Outbound calls that objects of this control plane configure, such as webhooks. */
  readonly outbound: Outbound;
  readonly services: ServiceResolver;
  /** Connections to kubelets, pods and services of this control plane. */
  readonly nodes: NodeAccess;
  readonly metrics: ControlPlaneMetrics;
}

/** Returns the key prefix of a resource, or of one namespace of it. Ends in a slash, so that no other key matches. */
export function collectionPrefix(plane: ControlPlane, resource: Resource, namespace: string): string {
  const prefix = `${plane.prefix}${resource.storagePrefix}/`;
  return resource.namespaced && namespace !== '' ? `${prefix}${safe(namespace)}/` : prefix;
}

export function objectKey(plane: ControlPlane, resource: Resource, namespace: string, name: string): string {
  return `${collectionPrefix(plane, resource, namespace)}${safe(name)}`;
}

/** Ensures that a name is one segment of a key: otherwise a crafted path could lead into another namespace. */
function safe(segment: string): string {
  if (segment === '.' || segment === '..' || segment.includes('/') || segment.includes('%')) {
    throw badRequest(`Name parameter invalid: ${quote(segment)}: ${whyUnsafe(segment)}`);
  }
  return segment;
}

const whyUnsafe = (segment: string): string =>
  segment === '.' || segment === '..'
    ? `may not be '${segment}'`
    : ['/', '%'].flatMap((one) => (segment.includes(one) ? [`may not contain '${one}'`] : [])).join(';');
