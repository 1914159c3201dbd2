/**
 * The two sides of a migration, as its controller uses them. `../host` implements `TenantReplica` over the subresources of `Tenant`; the
 * platform passes an implementation of `DedicatedReplica` for HostedControlPlanes. Every call can be repeated: after a restart, the
 * controller derives the next call from `state()` of both sides and from `status.migration`.
 */

import type { ReplicaDigest, ReplicaFrame, Revision } from '@hangar/store';

/** Identifies one migration: calls of another migration are refused with `Conflict`. */
export type MigrationId = string;

export interface TenantReplicaState {
  /**
   * Local: the tenant serves its own data. Remote: requests are passed on to `remote`. A hold keeps all requests waiting, for a bounded time,
   * in both cases.
   */
  readonly serving: 'Local' | 'Remote';
  readonly heldBy?: MigrationId | undefined;
  /** With `heldBy`: the data of the tenant is final as of this revision. */
  readonly heldAt?: Revision | undefined;
  /** Data received from the dedicated side: the revision that the range of the tenant has reached, 0 before a whole snapshot. Only while Remote. */
  readonly received?: { readonly by: MigrationId; readonly revision: Revision } | undefined;
}

export interface RemoteApiServer {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly serverName?: string | undefined;
}

export interface TenantReplica {
  state(signal: AbortSignal): Promise<TenantReplicaState>;
  /** CAs and signing keys of the tenant, PEM, and the issuer of its service account tokens. */
  keys(signal: AbortSignal): Promise<ReplicaKeys>;
  /**
   * The visible content, base objects included: a snapshot, then every change. With `after`, only every change after that revision; rejects
   * with `Compacted` if the history does not reach back to it. Ends when the signal aborts.
   */
  frames(signal: AbortSignal, options?: FramesOptions): AsyncGenerator<ReplicaFrame, void, void>;
  /** The content at the revision of the hold, or at the newest revision. */
  digest(signal: AbortSignal): Promise<ReplicaDigest>;
  /** Fences the tenant and keeps requests waiting. After it returns, the tenant accepts no write. */
  hold(id: MigrationId, signal: AbortSignal): Promise<TenantReplicaState>;
  /** Ends the hold; the tenant serves as before it. */
  release(id: MigrationId, signal: AbortSignal): Promise<void>;
  /** Ends the hold of a Local tenant: it becomes Remote. */
  passTo(id: MigrationId, remote: RemoteApiServer, signal: AbortSignal): Promise<void>;
  /**
   * Deletes the data of a Remote tenant, except identity and keys, and starts to receive. Does nothing if a whole snapshot was received for
   * this migration already.
   */
  startReceiving(id: MigrationId, signal: AbortSignal): Promise<void>;
  /** Appends frames in order, in bounded requests. Frames at or below the received revision are skipped. */
  receive(id: MigrationId, frames: readonly ReplicaFrame[], signal: AbortSignal): Promise<Revision>;
  /** Ends the hold of a Remote tenant that has received everything up to the revision: it becomes Local with that data. */
  serveReceived(id: MigrationId, revision: Revision, signal: AbortSignal): Promise<void>;
  /** Deletes the data of a Remote tenant, except identity and keys. */
  deleteData(id: MigrationId, signal: AbortSignal): Promise<void>;
}

export interface FramesOptions {
  /** Revision that the replica has reached. Absent: the frames start with a snapshot. */
  readonly after?: Revision | undefined;
}

export interface ReplicaKeys {
  readonly authority: { readonly certificate: string; readonly key: string };
  readonly frontProxyAuthority: { readonly certificate: string; readonly key: string };
  readonly serviceAccountKey: string;
  readonly issuer: string;
  /** CA of the address of the tenant, PEM. */
  readonly servingCa?: string | undefined;
}

export interface DedicatedReplicaState {
  /**
   * Absent: no etcd of this migration exists. Seeding: members are made from the snapshot. Fenced: the API server can only read. Active: the
   * API server can write.
   */
  readonly phase: 'Absent' | 'Seeding' | 'Fenced' | 'Active';
  /** Describes the pending condition, for users. */
  readonly message: string;
  /** Set when an API server answers reads. */
  readonly remote?: RemoteApiServer | undefined;
  /** Revision of etcd, while Fenced or Active. */
  readonly revision?: Revision | undefined;
}

/** The HostedControlPlane of one ControlPlane. */
export interface DedicatedReplica {
  state(signal: AbortSignal): Promise<DedicatedReplicaState>;
  /**
   * Prepares a new HostedControlPlane: Secrets from the keys, etcd from the snapshot, the fence, then the API servers; controllers stay
   * stopped. Reads `frames` only up to `snapshot`. Call it again until the phase is Fenced and `remote` is set.
   */
  seed(options: SeedOptions, signal: AbortSignal): Promise<DedicatedReplicaState>;
  /** Connects to etcd behind the fence. */
  open(id: MigrationId, signal: AbortSignal): Promise<DedicatedSession>;
}

export interface SeedOptions {
  readonly id: MigrationId;
  readonly keys: ReplicaKeys;
  readonly frames: () => AsyncGenerator<ReplicaFrame, void, void>;
}

export interface DedicatedSession extends AsyncDisposable {
  /** Revision of etcd. */
  revision(): Promise<Revision>;
  /**
   * Repeats batches at their own revisions, and raises the revision by progress frames, in order. Frames at or below the revision are skipped.
   * After a failure, a part of the frames can be applied.
   */
  apply(frames: readonly ReplicaFrame[]): Promise<void>;
  digest(at: Revision): Promise<ReplicaDigest>;
  /** As `frames` of a tenant: for the way back. Values are JSON, as a tenant stores them. */
  frames(signal: AbortSignal, options?: FramesOptions): AsyncGenerator<ReplicaFrame, void, void>;
  /** Fences the API server. Returns the last revision: no later write of the API server can happen. */
  fence(): Promise<Revision>;
  /** Removes the fence; the HostedControlPlane starts its controllers. */
  activate(): Promise<void>;
}
