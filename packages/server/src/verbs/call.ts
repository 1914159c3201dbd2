/** One request to one resource of one control plane: what every verb is given. */

import type { Allocation } from '../allocation/allocation.ts';
import type { Guard } from '../auth/guard.ts';
import type { User } from '../auth/user.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { ServerRequest } from '../http/message.ts';
import type { ResourceRequest } from '../request/info.ts';
import type { Query } from '../request/query.ts';
import type { Resource } from '../resources/resource.ts';

export interface Call {
  readonly plane: ControlPlane;
  readonly request: ServerRequest;
  readonly info: ResourceRequest;
  readonly query: Query;
  readonly resource: Resource;
  readonly user: User;
  /** For those who ask what others may do. */
  readonly guard: Guard;
  /** Of what is created: instead of the resource's own. */
  readonly allocation?: Allocation;
  /** Texts for `Warning` headers, in the order that they were found. */
  readonly warnings: string[];
}

/** More than these would not be sent: an object may have a million fields that nobody knows. */
const warningsMax = 256;

/** Each text once. */
export function warn(call: Call, text: string): void {
  if (call.warnings.length < warningsMax && !call.warnings.includes(text)) call.warnings.push(text);
}

/** As kube-apiserver's messages name the resource. */
export const groupResource = ({ resource }: Call): { group: string; resource: string } => ({
  group: resource.group,
  resource: resource.name,
});

/** Empty for resources of the cluster: a namespace's own path has it as its name. */
export const namespaceOf = ({ info, resource }: Call): string => (resource.namespaced ? info.namespace : '');
