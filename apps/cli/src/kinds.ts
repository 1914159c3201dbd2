/**
 * The kinds that commands use, with the fields that commands read. Data only, without imports at run time: commands that do not need a
 * server start without a client.
 */

import type { ApiObject, Kind } from '@hangar/client';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

/** Settings for nodes of a control plane. */
export interface NodesSettings {
  readonly enabled?: boolean;
  /** CIDR. */
  readonly networks?: readonly string[];
}

export type Mode = 'Virtual' | 'Dedicated';

/** The current or most recent migration of a control plane between modes. */
export interface Migration {
  readonly id?: string;
  readonly from: Mode;
  readonly to: Mode;
  readonly step?: string;
  readonly outcome?: 'Switched' | 'Aborted';
  readonly attempts?: number;
  readonly startedAt?: string;
  readonly switchedAt?: string;
  readonly completedAt?: string;
  readonly lag?: number;
  readonly objects?: number;
  readonly pauseMs?: number;
  readonly message?: string;
  readonly conditions?: readonly Condition[];
}

export interface ControlPlaneObject extends ApiObject {
  spec?: {
    classRef?: { name?: string };
    mode?: Mode;
    endpointRef?: { name?: string };
    endpointPolicy?: { hostname?: string };
    deletionPolicy?: 'Retain' | 'Destroy';
    virtual?: { clusterPath?: string; nodes?: NodesSettings };
    dedicated?: { version?: string };
  };
  status?: {
    endpoint?: string;
    endpoints?: readonly { readonly type?: string; readonly url?: string }[];
    kubeconfigSecretRef?: { readonly name?: string; readonly namespace?: string };
    phase?: string;
    migration?: Migration;
    observedGeneration?: number;
    conditions?: readonly Condition[];
  };
}

export interface ControlPlaneClassObject extends ApiObject {
  spec?: { deletionPolicy?: 'Retain' | 'Destroy'; addons?: readonly string[] };
}

export interface ControlPlaneRegistrationObject extends ApiObject {
  spec?: { controlPlaneRef?: { name?: string }; services?: readonly string[]; mode?: string };
  status?: { ready?: boolean; conditions?: readonly Condition[] };
}

export interface HostedControlPlaneObject extends ApiObject {
  spec?: {
    version?: string;
    replicas?: number;
    controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
  };
  status?: {
    version?: string;
    rendering?: string;
    readyReplicas?: number;
    etcdMembers?: readonly EtcdMember[];
    conditions?: readonly Condition[];
  };
}

/** An etcd member of a HostedControlPlane. */
export interface EtcdMember {
  readonly name: string;
  readonly id?: string;
  readonly role?: string;
  readonly healthy?: boolean;
  readonly version?: string;
  readonly dbSize?: string | number;
  /** Only while etcd has no quorum. Absent: the member does not respond. */
  readonly revision?: number;
}

export interface ControlPlaneRestoreObject extends ApiObject {
  spec: {
    readonly source: { readonly backupName: string };
    readonly controlPlaneRef: { readonly kind: string; readonly name: string };
    readonly mode: 'InPlace';
    readonly confirmation: string;
  };
}

export interface TenantObject extends ApiObject {
  spec?: {
    hosts?: readonly string[];
    suspension?: 'ReadOnly' | 'Offline';
    deletionPolicy?: 'Retain' | 'Destroy';
    quota?: { readonly objects?: number; readonly storedBytes?: number; readonly watches?: number };
    nodes?: NodesSettings;
  };
  status?: {
    readonly quarantine?: { readonly reason: string; readonly message: string; readonly until: string };
    readonly nodes?: { readonly port?: number; readonly endpoint?: string; readonly serviceCIDR?: string };
  };
}

export interface RetainedTenantObject extends ApiObject {
  status?: {
    readonly objects?: number;
    readonly storedBytes?: number;
    readonly retainedSince?: string;
    /** A kube-apiserver may serve the data; the server refuses to delete it. */
    readonly isMaterialised?: boolean;
  };
}

export interface SecretObject extends ApiObject {
  data?: Readonly<Record<string, string>>;
}

export interface NodeObject extends ApiObject {
  status?: { conditions?: readonly Condition[] };
}

export interface EventObject extends ApiObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  lastTimestamp?: string;
  eventTime?: string;
  series?: { readonly count?: number; readonly lastObservedTime?: string };
}

export interface LeaseObject extends ApiObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
}

export const controlPlaneGroup = 'controlplane.kplane.dev';
const controlPlaneVersion = `${controlPlaneGroup}/v1alpha1`;

const ofControlPlanes = (kind: string, plural: string) =>
  ({ apiVersion: controlPlaneVersion, kind, plural, isNamespaced: false }) as const;

export const ControlPlane: Kind<ControlPlaneObject> = ofControlPlanes('ControlPlane', 'controlplanes');
export const ControlPlaneClass: Kind<ControlPlaneClassObject> = ofControlPlanes(
  'ControlPlaneClass',
  'controlplaneclasses',
);
export const ControlPlaneRegistration: Kind<ControlPlaneRegistrationObject> = ofControlPlanes(
  'ControlPlaneRegistration',
  'controlplaneregistrations',
);

export const HostedControlPlane: Kind<HostedControlPlaneObject> = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  plural: 'hostedcontrolplanes',
  isNamespaced: true,
};

export const ControlPlaneRestore: Kind<ControlPlaneRestoreObject> = {
  apiVersion: 'backup.hangar.dev/v1alpha1',
  kind: 'ControlPlaneRestore',
  plural: 'controlplanerestores',
  isNamespaced: true,
};

export const Tenant: Kind<TenantObject> = {
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
};

const backupGroup = 'backup.hangar.dev/v1alpha1';

export interface ControlPlaneBackupObject extends ApiObject {
  spec?: { controlPlaneRef?: { kind?: string; name?: string } };
  status?: {
    phase?: string;
    sizeBytes?: number;
    objects?: number;
    location?: string;
    completionTime?: string;
    conditions?: readonly Condition[];
  };
}

export const ControlPlaneBackup: Kind<ControlPlaneBackupObject> = {
  apiVersion: backupGroup,
  kind: 'ControlPlaneBackup',
  plural: 'controlplanebackups',
  isNamespaced: true,
};

export interface ControlPlaneBackupScheduleObject extends ApiObject {
  spec?: { schedule?: string; suspend?: boolean; controlPlaneRef?: { name?: string } };
  status?: {
    controlPlanes?: number;
    backups?: number;
    failing?: number;
    lastBackupTime?: string;
    nextBackupTime?: string;
    drill?: { result?: string; controlPlane?: string; completionTime?: string };
  };
}

export const ControlPlaneBackupSchedule: Kind<ControlPlaneBackupScheduleObject> = {
  apiVersion: backupGroup,
  kind: 'ControlPlaneBackupSchedule',
  plural: 'controlplanebackupschedules',
  isNamespaced: true,
};

export interface ProjectObject extends ApiObject {
  spec?: { ownerRef?: { kind: 'Organization'; name: string } };
  status?: { conditions?: readonly Condition[] };
}

export const Project: Kind<ProjectObject> = {
  apiVersion: 'resourcemanager.miloapis.com/v1alpha1',
  kind: 'Project',
  plural: 'projects',
  isNamespaced: false,
};

/** Read-only, besides delete, which destroys the data. */
export const RetainedTenant: Kind<RetainedTenantObject> = {
  apiVersion: Tenant.apiVersion,
  kind: 'RetainedTenant',
  plural: 'retainedtenants',
  isNamespaced: false,
};

export const Namespace: Kind<ApiObject> = {
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isNamespaced: false,
};
export const Secret: Kind<SecretObject> = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', isNamespaced: true };
export const Node: Kind<NodeObject> = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', isNamespaced: false };
export const Event: Kind<EventObject> = { apiVersion: 'v1', kind: 'Event', plural: 'events', isNamespaced: true };
export const Lease: Kind<LeaseObject> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  isNamespaced: true,
};

export const conditionOf = (
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined => object.status?.conditions?.find((one) => one.type === type);

/** Returns the mode that serves the control plane: it differs from `spec.mode` until a migration has switched. */
export function servingMode({ spec, status }: ControlPlaneObject): Mode {
  const { migration } = status ?? {};
  if (migration?.id !== undefined) return migration.outcome === 'Switched' ? migration.to : migration.from;
  return spec?.mode ?? 'Virtual';
}

export const isDedicated = (plane: ControlPlaneObject): boolean => servingMode(plane) === 'Dedicated';

/** Returns the migration that is not complete. */
export function activeMigration({ status }: ControlPlaneObject): Migration | undefined {
  const { migration } = status ?? {};
  return migration?.id !== undefined && migration.completedAt === undefined ? migration : undefined;
}

/** The namespace with the HostedControlPlane of a dedicated control plane, whose name is short. */
export const managementNamespace = ({ metadata, status }: ControlPlaneObject): string =>
  status?.kubeconfigSecretRef?.namespace ?? `kplane-cp-${metadata.name}`;

/** Name of the Tenant that holds the data of a virtual control plane. */
export const clusterPathOf = ({ metadata, spec }: ControlPlaneObject): string =>
  spec?.virtual?.clusterPath ?? metadata.name ?? '';

/**
 * Annotation on a Tenant without an owner: the ControlPlane of this name may claim it. The operator reads it once, when it claims the
 * tenant.
 */
export const adoptByAnnotation = `${controlPlaneGroup}/adopt-by`;
