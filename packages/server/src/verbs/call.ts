/** One request to one resource of one control plane: the input of every verb. */

import type { Allocation } from '../allocation/allocation.ts';
import type { Guard } from '../auth/guard.ts';
import type { User } from '../auth/user.ts';
import type { Visibility } from '../auth/visibility.ts';
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
  /** The objects that the request is limited to. Absent: all. */
  readonly visibility?: Visibility;
  /** For handlers that check the permissions of users. */
  readonly guard: Guard;
  /** Replaces the allocation of the resource for created objects. */
  readonly allocation?: Allocation;
  /** Releases the seat in the fair queue, for requests that wait for another machine. Absent: the request has none. */
  readonly leaveQueue?: () => void;
  /** Time that service level objectives exclude: waiting for webhooks. Absent: not measured. */
  readonly latency?: { excludedMs: number };
  /** Texts for `Warning` headers, in order. */
  readonly warnings: string[];
}

/** More than these would not be sent: an object may have a million unknown fields. */
const warningsMax = 256;

/** Adds each text once. */
export function warn(call: Call, text: string): void {
  if (call.warnings.length < warningsMax && !call.warnings.includes(text)) call.warnings.push(text);
}

/** Returns the resource as in kube-apiserver's messages. */
export const groupResource = ({ resource }: Call): { group: string; resource: string } => ({
  group: resource.group,
  resource: resource.name,
});

/** Empty for cluster-scoped resources: the path of a namespace has it as its name. */
export const namespaceOf = ({ info, resource }: Call): string => (resource.namespaced ? info.namespace : '');
