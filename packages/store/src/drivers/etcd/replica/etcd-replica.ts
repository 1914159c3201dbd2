/**
 * An etcd that has the content of another store at the same revisions. The README describes its use.
 *
 *     source   … batch(103)        progress(110)     batch(112) …        other tenants wrote 101, 102, 104 …
 *     etcd     … fill fill commit  fill … fill       fill commit …
 */

import { hasCode, systemClock } from '@hangar/core';
import type { Revision, Store } from '../../../contract.ts';
import { StoreError } from '../../../errors.ts';
import { replicaDigest } from '../../../replication/digest.ts';
import type { ReplicaDigest, ReplicaFrame } from '../../../replication/frames.ts';
import { replicaFrames } from '../../../replication/source.ts';
import type { Client } from '../client.ts';
import { openEtcdStore } from '../etcd-store.ts';
import { decodeRange, encodeGet, methods } from '../messages/kv.ts';
import { decodeReplicaTxn, encodeBatch, encodeFill, positionKey } from '../messages/replica-txn.ts';
import type { EncodedChange, ReplicaTxnResponse } from '../messages/replica-txn.ts';
import { openClient } from '../open-client.ts';
import type { ConnectionOptions } from '../open-client.ts';
import { leaseTtlMinDefaultMs } from '../snapshot-file/snapshot-writer.ts';
import { sendChanges, stateOf } from './change-sender.ts';
import { convertedStore } from './converted-store.ts';
import type { ConvertValue } from './converted-store.ts';
import { EtcdReplicaError } from './errors.ts';
import { ReplicaLeases } from './leases.ts';
import { pendingChanges } from './pending-changes.ts';
import type { PendingChange, ReplicaState } from './pending-changes.ts';

/** Requests wait for the progress frame at the revision of the fence. */
const progressEveryMs = 50;

export interface EtcdReplicaOptions extends ConnectionOptions {
  /** Prefix of the keys in etcd, usually `/registry/`. */
  readonly prefix: string;
  /** For `digest` and `frames`. Absent: values are unchanged. */
  readonly convert?: ConvertValue | undefined;
  /** Revisions that one frame can be ahead of etcd. Absent: 500,000. */
  readonly gapMax?: number | undefined;
  /** Leases get at least this time. Absent: 15 minutes. */
  readonly leaseTtlMinMs?: number | undefined;
}

export interface EtcdFramesOptions {
  /** Revision that the reader has reached. Absent: the frames start with a snapshot. */
  readonly after?: Revision | undefined;
}

export interface EtcdReplica {
  /** Returns the revision of etcd. */
  revision(): Promise<Revision>;
  /** Returns the revision of the last applied frame. Read frames of the source after it. 0: etcd was not made from a snapshot of a replica. */
  position(): Promise<Revision>;
  /**
   * Repeats batches at their own revision, and raises the revision by progress frames. Holds all frames in memory; many at once are faster.
   * Frames at or below the position are skipped, so any call can be repeated. Rejects with an EtcdReplicaError, or with `Unavailable` or
   * `Unauthenticated`; some of the frames can be applied then.
   */
  apply(frames: readonly ReplicaFrame[]): Promise<void>;
  /** Rejects with `Compacted` or `FutureRevision`. */
  digest(at: Revision, signal?: AbortSignal): Promise<ReplicaDigest>;
  /** Yields a snapshot, then every change, until the signal aborts. Rejects with `Compacted` if etcd has removed a part of them. */
  frames(signal: AbortSignal, options?: EtcdFramesOptions): AsyncGenerator<ReplicaFrame, void, void>;
  close(): Promise<void>;
}

/** Rejects with `Unavailable`, `Unauthenticated`, `InvalidRequest` or `InvalidKey`. */
export async function openEtcdReplica(options: EtcdReplicaOptions): Promise<EtcdReplica> {
  const store = await openEtcdStore(options);
  return new Replica(options, store);
}

const gapMaxDefault = 500_000;
/** Each attempt follows a lease that etcd did not have. */
const attemptsMax = 20;

class Replica implements EtcdReplica {
  readonly #options: EtcdReplicaOptions;
  readonly #client: Client;
  readonly #store: Store;
  readonly #leases: ReplicaLeases;
  /** Undefined: to be read. */
  #state: ReplicaState | undefined;

  constructor(options: EtcdReplicaOptions, store: Store) {
    const { clock = systemClock, prefix, convert, leaseTtlMinMs: ttlMinMs = leaseTtlMinDefaultMs } = options;
    this.#options = options;
    this.#client = openClient(options);
    this.#store = convert ? convertedStore(store, { prefix, convert }) : store;
    this.#leases = new ReplicaLeases({ client: this.#client, clock, ttlMinMs });
  }

  revision(): Promise<Revision> {
    return this.#store.revision();
  }

  async position(): Promise<Revision> {
    return (await this.#readState()).position as Revision;
  }

  async apply(frames: readonly ReplicaFrame[]): Promise<void> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const known = this.#state;
      // Taken until the changes are made: after a failure it is read again.
      this.#state = undefined;
      const state = known ?? (await this.#readState());
      const changes = this.#pending(state, frames, known !== undefined);
      if (!changes) continue;
      if (changes.length === 0) return void (this.#state = state);
      this.#leases.keepAlive();
      try {
        this.#state = await this.#make(state, changes);
        return;
      } catch (error) {
        if (!hasCode(error, 'LeaseNotFound')) throw error;
        this.#leases.forget();
      }
    }
    throw new StoreError('Unavailable', 'etcd: leases of the replica expire while they are used');
  }

  async digest(at: Revision, signal?: AbortSignal): Promise<ReplicaDigest> {
    return replicaDigest(this.#store, { prefix: this.#options.prefix, at, signal, clock: this.#options.clock });
  }

  frames(signal: AbortSignal, { after }: EtcdFramesOptions = {}): AsyncGenerator<ReplicaFrame, void, void> {
    const { prefix, clock } = this.#options;
    return replicaFrames(this.#store, { prefix, signal, after, clock, progressEveryMs });
  }

  async close(): Promise<void> {
    this.#leases.close();
    await this.#client.settled();
    this.#client.close();
    await this.#store.close();
  }

  /** A known state can be older than the work of another follower: the error is thrown when the state was read. Undefined: read it. */
  #pending(
    state: ReplicaState,
    frames: readonly ReplicaFrame[],
    isKnown: boolean,
  ): readonly PendingChange[] | undefined {
    try {
      return pendingChanges(state, frames, this.#options.gapMax ?? gapMaxDefault);
    } catch (error) {
      if (!isKnown) throw error;
      return undefined;
    }
  }

  async #readState(): Promise<ReplicaState> {
    const frame = encodeGet(positionKey, 0 as Revision);
    const request = { method: methods.range, frame, decode: decodeRange, repeatable: true };
    const { revision, entries } = await this.#client.call(request);
    return stateOf({ revision, position: entries[0] });
  }

  async #make({ position, created }: ReplicaState, pending: readonly PendingChange[]): Promise<ReplicaState> {
    const { prefix } = this.#options;
    const batches = pending.flatMap((change) => (change.type === 'batch' ? change.frame : []));
    await this.#leases.grant(batches.flatMap(({ puts }) => puts.flatMap(({ lease }) => lease ?? [])));
    const changes = pending.map((change): EncodedChange => {
      if (change.type === 'fill') return encodeFill(change.first, change.last);
      const { revision, puts, deletes } = change.frame;
      return encodeBatch({ revision, positionVersion: revision - created, prefix, puts, deletes });
    });
    return sendChanges({ position, changes, send: (frame) => this.#txn(frame) });
  }

  /** Can be repeated: each transaction is conditional on the position, which it changes. */
  async #txn(frame: Buffer): Promise<ReplicaTxnResponse> {
    try {
      return await this.#client.call({ method: methods.txn, frame, decode: decodeReplicaTxn, repeatable: true });
    } catch (error) {
      if (!hasCode(error, 'InvalidRequest') && !hasCode(error, 'ValueTooLarge')) throw error;
      const message = `etcd refuses the transaction, raise --max-txn-ops and --max-request-bytes: ${error.message}`;
      throw new EtcdReplicaError('BatchTooLarge', message, { cause: error });
    }
  }
}
