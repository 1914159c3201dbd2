/** A tenant as the server uses it in every request: its `Tenant` object, parsed once per change. */

import type { KubeObject } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { rootPath, tenantPrefix } from './layout.ts';

export type Suspension = 'ReadOnly' | 'Offline';

/** Suspension by the server itself; see `quarantine.ts`. */
export interface Quarantine {
  readonly reason: string;
  /** Explains the cause to the tenant's users, in one sentence. */
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
  readonly until: string;
}

export type DeletionPolicy = 'Retain' | 'Destroy';

/** Absent: unlimited. */
export interface TenantQuota {
  readonly objects?: number;
  readonly storedBytes?: number;
  /** By resource: `configmaps`, `deployments.apps`. */
  readonly objectsPerKind?: Readonly<Record<string, number>>;
  readonly watches?: number;
  readonly requestsPerSecond?: number;
}

/** Settings for nodes of the control plane. */
export interface TenantNodes {
  /** Nodes can join: the tenant has a separate port. */
  readonly enabled?: boolean;
  /**
   * Networks (CIDR) that contain the addresses of nodes, pods and services. Absent or empty: the server opens no direct connection to
   * nodes, pods or services of the tenant.
   */
  readonly networks?: readonly string[];
}

/** How nodes reach the control plane; set by the server when nodes are enabled. */
export interface TenantNodesStatus {
  /** Port of the server whose connections all belong to this tenant. */
  readonly port: number;
  /** URL of the port for nodes, without a path. */
  readonly endpoint: string;
  /** CA of the port and of its clients; PEM in base64. */
  readonly caBundle: string;
  /** Network of the cluster IPs of services. */
  readonly serviceCIDR: string;
  /** Why a server cannot open the port. */
  readonly problem?: string;
}

/** The server that answers the requests of a tenant; set when a migration begins to hold the tenant. */
export interface TenantServing {
  /** Local: by this server. Remote: they are passed on to `server`. */
  readonly mode: 'Local' | 'Remote';
  /** URL of the API server that requests are passed on to. */
  readonly server?: string;
  /** ID of the migration that holds the tenant. */
  readonly heldBy?: string;
  /** Time of the last request for the hold; RFC 3339. */
  readonly heldAt?: string;
}

/** Users of the control plane that it does not know itself. */
export interface TenantAuthentication {
  /** Field `jwt` of an AuthenticationConfiguration. */
  readonly jwt?: readonly object[];
}

export interface TenantSpec {
  /** Additional host names of the tenant; lower case. */
  readonly hosts?: readonly string[];
  readonly suspension?: Suspension;
  readonly deletionPolicy?: DeletionPolicy;
  /** Whether a new tenant uses the data that a deleted one with the same name retained. */
  readonly retainedData?: 'Adopt' | 'Refuse';
  readonly quota?: TenantQuota;
  /** Absent: nodes cannot join. */
  readonly nodes?: TenantNodes;
  /** Absent: certificates and tokens of the control plane only. */
  readonly authentication?: TenantAuthentication;
}

export interface Tenant {
  readonly path: string;
  /** UID of the `Tenant` object. An object with another UID is another tenant, even at the same path. */
  readonly uid: string;
  readonly revision: Revision;
  /** Revision that created the object. */
  readonly madeAt: Revision;
  readonly spec: TenantSpec;
  /** UID of the ControlPlane that owns the tenant. */
  readonly controlPlaneUid?: string;
  readonly quarantine?: Quarantine;
  /** Port for nodes. */
  readonly port?: number;
  /** Why a server cannot open the port. */
  readonly portProblem?: string;
  /** The tenant no longer uses the shared base. Servers that have it open with its base reopen it. */
  readonly isMaterialised?: boolean;
  /** Absent: Local, and not held. A hint for other servers: the identity decides. */
  readonly serving?: TenantServing;
}

interface StoredTenant extends KubeObject {
  readonly spec?: TenantSpec;
  readonly status?: {
    readonly isMaterialised?: boolean;
    readonly quarantine?: Quarantine;
    readonly nodes?: Partial<TenantNodesStatus>;
    readonly serving?: TenantServing;
  };
}

export const tenantGroup = 'tenancy.hangar.dev';
export const tenantVersion = 'v1alpha1';
export const tenantsName = { group: tenantGroup, version: tenantVersion, resource: 'tenants' };

/** The operator of control planes sets it when it creates the tenant. */
const controlPlaneUidAnnotation = 'controlplane.kplane.dev/uid';

/** Key of the `Tenant` object in the store. */
export const tenantKey = (storePrefix: string, path: string): string =>
  `${tenantPrefix(storePrefix, rootPath)}${tenantsPrefix}${path}`;

/** Below the prefix of the management plane. */
export const tenantsPrefix = `${tenantGroup}/${tenantsName.resource}/`;

/** Throws if the value is not a Tenant. */
export function tenantOf({ value, modRevision, createRevision }: Entry): Tenant {
  const object = JSON.parse(Buffer.from(value).toString()) as StoredTenant;
  const { name, uid, annotations } = object.metadata;
  const controlPlaneUid = annotations?.[controlPlaneUidAnnotation];
  const { isMaterialised, quarantine, nodes, serving } = object.status ?? {};
  return {
    path: name!,
    uid: uid!,
    revision: modRevision,
    madeAt: createRevision,
    spec: object.spec ?? {},
    ...(controlPlaneUid === undefined ? {} : { controlPlaneUid }),
    ...(isMaterialised ? { isMaterialised } : {}),
    ...(quarantine ? { quarantine } : {}),
    ...(serving ? { serving } : {}),
    ...(nodes?.port === undefined ? {} : { port: nodes.port }),
    ...(nodes?.problem === undefined ? {} : { portProblem: nodes.problem }),
  };
}
