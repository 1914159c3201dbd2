/** An APIService as the aggregator reads it: which server serves a group-version, and how that server is verified. */

import type { KubeObject } from '@hangar/api';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface ApiServiceCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface RegisteredService {
  /** `v1.notes.example.com`. */
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Undefined: this server serves it itself. */
  readonly service: ServiceReference | undefined;
  /** PEM; undefined: the authorities that the system trusts. */
  readonly ca: string | undefined;
  readonly isInsecure: boolean;
  readonly available: ApiServiceCondition | undefined;
}

export interface RemoteService extends RegisteredService {
  readonly service: ServiceReference;
}

interface Spec {
  readonly group?: string;
  readonly version?: string;
  readonly groupPriorityMinimum?: number;
  readonly versionPriority?: number;
  readonly service?: { readonly namespace?: string; readonly name?: string; readonly port?: number } | null;
  readonly caBundle?: string;
  readonly insecureSkipTLSVerify?: boolean;
}

const defaultPort = 443;

export function registeredService(object: KubeObject): RegisteredService {
  const spec = (object['spec'] ?? {}) as Spec;
  const { conditions = [] } = (object['status'] ?? {}) as { conditions?: readonly ApiServiceCondition[] };
  const { namespace = '', name = '', port = defaultPort } = spec.service ?? {};
  return {
    name: object.metadata.name!,
    // Only for remote APIServices: the local ones are the same objects in every control plane.
    uid: spec.service ? (object.metadata.uid ?? '') : '',
    group: spec.group ?? '',
    version: spec.version ?? '',
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
    service: spec.service ? { namespace, name, port } : undefined,
    ca: spec.caBundle ? Buffer.from(spec.caBundle, 'base64').toString() : undefined,
    isInsecure: spec.insecureSkipTLSVerify ?? false,
    available: conditions.find(({ type }) => type === 'Available'),
  };
}

export const isRemote = (registered: RegisteredService): registered is RemoteService =>
  registered.service !== undefined;

/** Returns the parts that a connection to the server depends on. */
export const targetOf = ({ uid, service, ca, isInsecure }: RegisteredService): string =>
  JSON.stringify([uid, service, ca, isInsecure]);

/** Returns the discovery path; the APIService of the core group has no group. */
export const discoveryPath = ({ group, version }: RegisteredService): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
