/** The inputs of a pass of the reconciler, and its intermediate results. Steps read and fill it, in their order. */

import type { Client, Kind, Reader } from '@hangar/client';
import type { Secret } from '@hangar/client/kinds/core-v1';
import type { Clock, Random } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import type { ClusterEvents } from '@hangar/runtime';
import type { FrontDoorStatus, HostedControlPlane, ServiceType } from '../api/index.ts';
import type { EtcdCare } from '../etcd/care.ts';
import type { MemberHealth } from '../etcd/health.ts';
import type { FrontDoorSettings } from '../front-door/settings.ts';
import type { TlsRouteVersion } from '../gateway/kinds.ts';
import type { Fault } from '../fault.ts';
import type { Autoscaler } from '../autoscaling/autoscaler.ts';
import type { HostedMetrics } from '../metrics/hosted-metrics.ts';
import type { Signer, SignerName } from '../pki/signer.ts';
import type { ClusterObject, KonnectivityPolicy, Plane, Rendering, Renderings } from '../render/index.ts';
import type { EtcdBackupReport } from './etcd-backup.ts';
import type { DeploymentReport, MemberReport } from './rollout.ts';
import type { Writes } from './writes.ts';

/**
 * Whether cert-manager issues the certificates of control planes that set no issuer (`default`), or only of those that request it
 * (`on-request`). Absent: the management cluster does not serve its API.
 */
export type CertManagerUse = 'default' | 'on-request';

export interface FrontDoorWorld {
  readonly settings: FrontDoorSettings;
  /** Returns the control planes that claim a host name. */
  readonly claimants: (host: string) => Iterable<HostedControlPlane>;
}

/** The same for all passes. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly writes: Writes;
  /** Of the management cluster. */
  readonly events: Pick<ClusterEvents, 'event'>;
  readonly metrics: HostedMetrics;
  readonly autoscaler: Pick<Autoscaler, 'observe' | 'forget' | 'reportOf'>;
  /** Type of Services if the spec has none. */
  readonly serviceType: ServiceType;
  readonly konnectivity: KonnectivityPolicy;
  /** Absent: the operator has no domain for the front door. */
  readonly frontDoor?: FrontDoorWorld | undefined;
  /** The known renderings, oldest first. */
  readonly renderings: Renderings;
  /** Opens a client of the API server of a control plane, as an administrator. Closed by its user. */
  readonly connect: (access: PlaneAccess) => Promise<Client>;
  readonly etcdCare: Pick<EtcdCare, 'track' | 'hint' | 'forget' | 'healthOf'>;
  /** Whether the management cluster serves ControlPlaneBackups. */
  readonly hasBackups?: boolean | undefined;
  /** The version of TLSRoute that the management cluster serves. Absent: the Gateway API is not installed. */
  readonly tlsRouteVersion?: TlsRouteVersion | undefined;
  readonly certManager?: CertManagerUse | undefined;
  /** The kind Cluster of Cluster API. Absent: Cluster API is not installed. */
  readonly clusterKind?: Kind<ClusterObject> | undefined;
}

/** The authorities of a control plane and the key of service accounts, with their private keys. */
export type Authorities = Readonly<Record<SignerName, Signer>>;

/** The Secrets of one of them. */
export interface Rotation {
  readonly of: SignerName;
  readonly signer: Signer;
  /** The usable pair in the Secret `next`. */
  readonly nextPair: KeyPair | undefined;
  /** Why the pair in the Secret `next` is not usable. */
  readonly fault: Fault | undefined;
  readonly secrets: {
    readonly current: Secret;
    readonly next: Secret | undefined;
    readonly previous: Secret | undefined;
  };
}

/** How the operator reaches the API server of a control plane. */
export interface PlaneAccess {
  readonly plane: Plane;
  /** Of its authority. */
  readonly credentials: KeyPair;
  /** PEM. */
  readonly authority: string;
}

/** One pass over one HostedControlPlane. */
export interface Pass {
  readonly world: World;
  /** Reads from the cache. */
  readonly client: Client;
  /** Reads from the server, for objects that are not in the cache. */
  readonly apiReader: Reader;
  readonly signal: AbortSignal;
  /** As read, or as returned by the last write. */
  hostedControlPlane: HostedControlPlane;
  cluster: ClusterObject | undefined;
  plane: Plane;
  rendering: Rendering;
  renderingVersion: string;
  authorities?: Authorities;
  /** The route of the front door. Absent: not determined, so the known one stays. */
  route?: FrontDoorStatus | 'none';
  readonly rotations: Rotation[];
  /** Digest of the audit files. */
  auditDigest?: string;
  /** Size of the volumes of etcd. */
  etcdVolumeSize?: string;
  /** Largest database of an etcd member. */
  etcdVolumeUsage?: string;
  /** Of the operator that runs. Absent: the known time stays. */
  etcdLastDefragTime?: string;
  /** etcd is being updated, lacks members or refuses writes: nothing else is disrupted. */
  isEtcdBusy?: boolean;
  etcdMembers?: Pick<MemberReport, 'desired' | 'ready'>;
  /** Of the last observation. Absent: not observed yet, so the known status stays. */
  etcdMemberHealth?: readonly MemberHealth[];
  /** Number of recoveries of etcd from a surviving member: API servers restart after each. */
  etcdRecoveries?: number;
  /** Absent: the spec has no backups, or the pass did not reach them, so the known status stays. */
  etcdBackup?: EtcdBackupReport;
  apiServer?: DeploymentReport;
  /** All components have the version of the spec. */
  isVersionComplete?: boolean;
  /** Times of the next pass without an event, in milliseconds since 1970. */
  readonly wakeUps: number[];
  /** Milliseconds since 1970 by the name of the authority or of a group of certificates. */
  readonly expirations: Map<string, number>;
}

/** Why a phase is not complete. */
export interface Verdict extends Fault {
  /** True: later phases are independent and continue. Absent: they wait. */
  readonly isPartial?: boolean;
  /** No event reports the change: requeue after this delay. */
  readonly requeueAfterMs?: number;
}

/** Undefined: the phase is complete. */
export type Step = (pass: Pass) => Promise<Verdict | undefined> | Verdict | undefined;
