/**
 * A HostedControlPlane as the dedicated side of a migration. The types have the shape of the contract of the operator of ControlPlanes, which
 * the platform connects with this package.
 */

import { CodedError } from '@hangar/core';
import type { ReplicaDigest, ReplicaFrame, Revision } from '@hangar/store';

/**
 * `Conflict`: the control plane belongs to another migration. `NotReady`: try again later. `Refused`: it never succeeds with these
 * arguments.
 */
export class ReplicaError extends CodedError<'Conflict' | 'NotReady' | 'Refused'> {}

export interface ReplicaKeys {
  readonly authority: { readonly certificate: string; readonly key: string };
  readonly frontProxyAuthority: { readonly certificate: string; readonly key: string };
  /** PEM. */
  readonly serviceAccountKey: string;
  readonly issuer: string;
  /** CA of the address of the tenant, PEM. */
  readonly servingCa?: string | undefined;
}

export interface RemoteApiServer {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly serverName?: string | undefined;
}

export interface HostedReplicaState {
  readonly phase: 'Absent' | 'Seeding' | 'Fenced' | 'Active';
  /** Describes the pending condition, for users. */
  readonly message: string;
  /** Set when an API server answers reads. */
  readonly remote?: RemoteApiServer | undefined;
  /** Revision of etcd, while Fenced or Active. */
  readonly revision?: Revision | undefined;
}

export interface SeedOptions {
  /** Of the migration. */
  readonly id: string;
  readonly keys: ReplicaKeys;
  readonly frames: () => AsyncGenerator<ReplicaFrame, void, void>;
}

export interface HostedReplica {
  state(signal: AbortSignal): Promise<HostedReplicaState>;
  /** Called again until the phase is Fenced and `remote` is set. The HostedControlPlane has the annotation `replica-of` with the id. */
  seed(options: SeedOptions, signal: AbortSignal): Promise<HostedReplicaState>;
  open(id: string, signal: AbortSignal): Promise<HostedReplicaSession>;
}

export interface FramesOptions {
  /** Revision that the receiver has reached. Absent: the frames start with a snapshot. */
  readonly after?: Revision | undefined;
}

export interface HostedReplicaSession extends AsyncDisposable {
  revision(): Promise<Revision>;
  apply(frames: readonly ReplicaFrame[]): Promise<void>;
  digest(at: Revision): Promise<ReplicaDigest>;
  frames(signal: AbortSignal, options?: FramesOptions): AsyncGenerator<ReplicaFrame, void, void>;
  fence(): Promise<Revision>;
  activate(): Promise<void>;
}
