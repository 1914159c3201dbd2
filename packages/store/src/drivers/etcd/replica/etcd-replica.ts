/**
 * An etcd that has the content of another store at the same revisions. The README describes its use.
 *
 *     source   … batch(103)        progress(110)     batch(112) …        other tenants wrote 101, 102, 104 …
 *     etcd     … fill fill commit  fill … fill       fill commit …
 */

import { eachAtOnce, hasCode, systemClock } from '@hangar/core';
import type { Revision, Store } from '../../../contract.ts';
import { StoreError } from '../../../errors.ts';
import { replicaDigest } from '../../../replication/digest.ts';
import type { ReplicaDigest, ReplicaFrame } from '../../../replication/frames.ts';
import { replicaFrames } from '../../../replication/source.ts';
import type { Client } from '../client.ts';
import { openEtcdStore } from '../etcd-store.ts';
import { decodeRange, encodeGet, methods } from '../messages/kv.ts';
import { encodeBatch, encodeFiller, positionKey } from '../messages/replica-txn.ts';
import { decodeTxn } from '../messages/txn.ts';
import type { TxnResponse } from '../messages/txn.ts';
import { openClient } from '../open-client.ts';
import type { ConnectionOptions } from '../open-client.ts';
import { leaseTtlMinDefaultMs } from '../snapshot-file/snapshot-writer.ts';
import { convertedStore } from './converted-store.ts';
import type { ConvertValue } from './converted-store.ts';
import { EtcdReplicaError } from './errors.ts';
import { ReplicaLeases } from './leases.ts';
import { nextStep } from './next-step.ts';
import type { ReplicaState, Step } from './next-step.ts';

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
   * Repeats a batch at its own revision, or raises the revision by a progress frame. Frames at or below the position are skipped, so any call can
   * be repeated. Rejects with an EtcdReplicaError, or with `Unavailable` or `Unauthenticated`.
   */
  apply(frame: ReplicaFrame): Promise<void>;
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
/** etcd writes the transactions that wait for its disk together. */
const fillersAtOnce = 256;
/** A larger batch is not sent before its condition holds. */
const earlyBatchBytesMax = 65_536;
/** Each attempt follows a change that another follower or etcd made. */
const attemptsMax = 20;

class Replica implements EtcdReplica {
  readonly #options: EtcdReplicaOptions;
  readonly #client: Client;
  readonly #store: Store;
  readonly #leases: ReplicaLeases;
  /** Undefined: to be read. */
  #state: ReplicaState | undefined;
  #diverged: EtcdReplicaError | undefined;

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

  async apply(frame: ReplicaFrame): Promise<void> {
    if (this.#diverged) throw this.#diverged;
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const known = this.#state;
      // Taken until the step is complete: after a failure it is read again.
      this.#state = undefined;
      const state = known ?? (await this.#readState());
      const step = this.#nextStep(state, frame, known !== undefined);
      if (step.type === 'skip') return void (this.#state = state);
      this.#leases.keepAlive();
      if (step.type === 'fill') this.#state = await this.#fillFor(frame, step);
      else if (step.type === 'commit' && frame.type === 'batch') this.#state = await this.#commit(state, frame);
    }
    throw new StoreError('Unavailable', 'etcd: the position of the replica is changed by others');
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

  /** A known state can be older than the work of another follower: the error is thrown when the state was read. */
  #nextStep(state: ReplicaState, frame: ReplicaFrame, isKnown: boolean): Step | { readonly type: 'read' } {
    try {
      return nextStep(state, frame, this.#options.gapMax ?? gapMaxDefault);
    } catch (error) {
      if (!isKnown) throw error;
      return { type: 'read' };
    }
  }

  async #readState(): Promise<ReplicaState> {
    const frame = encodeGet(positionKey, 0 as Revision);
    const request = { method: methods.range, frame, decode: decodeRange, repeatable: true };
    const { revision, entries } = await this.#client.call(request);
    return { revision, position: entries[0]?.modRevision ?? 0 };
  }

  /**
   * Sends the batch together with the fillers before it. etcd usually executes them in order, which saves waiting for its disk twice. If not,
   * the condition of the batch fails, and it is sent again.
   */
  async #fillFor(frame: ReplicaFrame, step: FillStep): Promise<ReplicaState | undefined> {
    if (frame.type !== 'batch' || step.count > fillersAtOnce || sizeOf(frame) > earlyBatchBytesMax) {
      return this.#fill(step);
    }
    const results = await Promise.allSettled([
      this.#fill(step),
      this.#commit({ position: step.to, revision: step.to }, frame),
    ]);
    const [filled, committed] = results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
    return committed && committed.position >= frame.revision ? committed : filled;
  }

  async #fill({ to, count }: FillStep): Promise<ReplicaState | undefined> {
    const frame = encodeFiller(to);
    let [written, newest] = [0, 0];
    await eachAtOnce(Math.min(count, fillersAtOnce), Array(count).keys(), async () => {
      const { succeeded, revision } = await this.#txn(frame);
      newest = Math.max(newest, revision);
      if (succeeded) written++;
    });
    return written === count && newest === to ? { position: to, revision: to } : undefined;
  }

  async #commit(
    state: ReplicaState,
    frame: ReplicaFrame & { readonly type: 'batch' },
  ): Promise<ReplicaState | undefined> {
    const { prefix } = this.#options;
    const { puts, deletes, revision } = frame;
    const position = state.position as Revision;
    await this.#leases.grant(puts.flatMap(({ lease }) => lease ?? []));
    let response: TxnResponse;
    try {
      response = await this.#txn(encodeBatch({ position, prefix, puts, deletes }));
    } catch (error) {
      if (!hasCode(error, 'LeaseNotFound')) throw error;
      this.#leases.forget();
      return undefined;
    }
    const next = stateAfter(response);
    if (response.succeeded && response.revision !== revision) {
      // The position says that the batch was applied, so this must not be forgotten.
      throw (this.#diverged = diverged(`the batch of revision ${revision} got revision ${response.revision}`));
    }
    if (!response.succeeded && next.position === position) {
      throw diverged(`the keys of the batch of revision ${revision} do not have the versions of the source`);
    }
    return next;
  }

  /** Can be repeated: each transaction is conditional on the position, which it changes. */
  async #txn(frame: Buffer): Promise<TxnResponse> {
    try {
      return await this.#client.call({ method: methods.txn, frame, decode: decodeTxn, repeatable: true });
    } catch (error) {
      if (!hasCode(error, 'InvalidRequest') && !hasCode(error, 'ValueTooLarge')) throw error;
      const message = `etcd refuses the transaction, raise --max-txn-ops and --max-request-bytes: ${error.message}`;
      throw new EtcdReplicaError('BatchTooLarge', message, { cause: error });
    }
  }
}

type FillStep = Step & { readonly type: 'fill' };

const sizeOf = ({ puts }: ReplicaFrame & { readonly type: 'batch' }): number =>
  puts.reduce((sum, { value }) => sum + value.length, 0);

const stateAfter = ({ succeeded, revision, compared }: TxnResponse): ReplicaState => ({
  revision,
  position: succeeded ? revision : (compared[0]?.modRevision ?? 0),
});

const diverged = (what: string): EtcdReplicaError =>
  new EtcdReplicaError('Diverged', `the etcd differs from its source: ${what}. Make etcd from a new snapshot`);
