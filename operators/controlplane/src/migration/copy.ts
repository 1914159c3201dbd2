/**
 * Copies the data of the old side to the new one, and follows every change, beside the reconciler. Reads ahead by a bounded number of frames.
 * After a failure it continues from the revision that the new side has reached.
 *
 * It sends calls only while `renew` is called: an operator that has lost the migration to another one stops within `passMsMax`.
 */

import { abortError, asError, BoundedQueue, hasCode, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { ReplicaFrame, Revision } from '@hangar/store';
import type { DedicatedSide } from './sides.ts';
import type { TenantReplica } from './contract.ts';
import type { Comparison, CopyProgress } from './protocol.ts';
import type { MigrationRecord } from './record.ts';
import type { MigrationTimings } from './timings.ts';

export interface CopyOptions {
  readonly record: Pick<MigrationRecord, 'id' | 'to'>;
  readonly tenant: TenantReplica;
  readonly dedicated: DedicatedSide;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: MigrationTimings;
  /** Ends the copy. */
  readonly signal: AbortSignal;
}

const framesAheadMax = 512;
const bytesAheadMax = 8 * 1024 * 1024;
const bytesPerCallMax = 1024 * 1024;
const failurePauseMs = 1_000;

export class Copy {
  readonly #options: CopyOptions;
  readonly #ended: Promise<void>;
  #progress: CopyProgress = { isRunning: true };
  #renewedMs: number;
  /** Set while a comparison needs the new side unchanged. */
  #pausedUntil: Promise<void> | undefined;
  #isBetweenFrames = true;
  #aheadBytes = 0;
  #comparison: Comparison | undefined;

  constructor(options: CopyOptions) {
    this.#options = options;
    this.#renewedMs = options.clock.monotonicMs();
    this.#ended = this.#run();
  }

  get progress(): CopyProgress {
    return this.#progress;
  }

  /** The record was read, and has no outcome. */
  renew(): void {
    this.#renewedMs = this.#options.clock.monotonicMs();
  }

  /** Resolves when the copy has stopped after the signal. */
  ended(): Promise<void> {
    return this.#ended;
  }

  async #run(): Promise<void> {
    const { record, clock, log, signal } = this.#options;
    while (!signal.aborted) {
      try {
        await (record.to === 'Dedicated' ? this.#toDedicated() : this.#toVirtual());
      } catch (error) {
        if (signal.aborted) break;
        const { message } = asError(error);
        log.debug('copy of a migration failed, retrying', { error: asError(error) });
        this.#progress = { ...this.#progress, error: message, isLost: hasCode(error, 'Compacted') };
      }
      await sleep(clock, failurePauseMs, signal).catch(() => undefined);
    }
    this.#progress = { ...this.#progress, isRunning: false };
  }

  async #toDedicated(): Promise<void> {
    const { record, tenant, dedicated, clock, timings, signal } = this.#options;
    const { id } = record;
    await this.#permitted();
    await dedicated.prepare(id, signal);
    const keys = await tenant.keys(signal);
    for (;;) {
      await this.#permitted();
      const state = await dedicated.replica.seed({ id, keys, frames: () => tenant.frames(signal) }, signal);
      if (state.phase === 'Active') return;
      if (state.phase === 'Fenced' && state.remote) break;
      this.#progress = { ...this.#progress, error: undefined };
      await sleep(clock, timings.pollMs, signal);
    }
    await using session = await dedicated.replica.open(id, signal);
    const after = await session.revision();
    await this.#follow(tenant.frames(this.#options.signal, { after }), after, async (some) => {
      await session.apply(some);
      return revisionOf(some.at(-1)!);
    });
  }

  async #toVirtual(): Promise<void> {
    const { record, tenant, dedicated, signal } = this.#options;
    const { id } = record;
    await this.#permitted();
    await tenant.startReceiving(id, signal);
    const { received } = await tenant.state(signal);
    const after = received?.by === id && received.revision > 0 ? received.revision : undefined;
    await using session = await dedicated.replica.open(id, signal);
    const frames = session.frames(signal, after === undefined ? {} : { after });
    await this.#follow(frames, after, (some) => tenant.receive(id, some, signal));
  }

  /** Applies the frames in order until one of both sides fails. */
  async #follow(
    frames: AsyncGenerator<ReplicaFrame, void, void>,
    after: Revision | undefined,
    apply: (frames: readonly ReplicaFrame[]) => Promise<Revision | undefined>,
  ): Promise<void> {
    const queue = new BoundedQueue<ReplicaFrame>(framesAheadMax);
    this.#aheadBytes = 0;
    this.#progress = { isRunning: true, position: after };
    const reading = this.#readAhead(frames, queue, after !== undefined);
    try {
      for (;;) {
        this.#isBetweenFrames = true;
        const first = await queue.take();
        if (first === undefined) throw new Error('the stream of changes ended');
        await this.#permitted();
        // Without a pause, nothing is awaited between this check and the mark: a comparison sees one or the other.
        while (this.#pausedUntil) await this.#pausedUntil;
        this.#isBetweenFrames = false;
        const some = await grouped(first, queue);
        for (const frame of some) this.#aheadBytes -= bytesOf(frame);
        const position = await apply(some);
        if (position !== undefined) this.#progress = { ...this.#progress, position, error: undefined };
      }
    } finally {
      this.#isBetweenFrames = true;
      queue.close();
      await frames.return().catch(() => undefined);
      await reading;
    }
  }

  async #readAhead(
    frames: AsyncGenerator<ReplicaFrame, void, void>,
    queue: BoundedQueue<ReplicaFrame>,
    isResumed: boolean,
  ): Promise<void> {
    try {
      for await (const frame of frames) {
        if (isResumed && (frame.type === 'entry' || frame.type === 'snapshot')) {
          throw new Error('the source sent a snapshot instead of the changes after the copied revision');
        }
        while (this.#aheadBytes >= bytesAheadMax) await this.#sleepShortly(this.#options.signal);
        this.#aheadBytes += bytesOf(frame);
        await queue.push(frame);
        if (frame.type !== 'entry') this.#progress = { ...this.#progress, sourceRevision: frame.revision };
      }
      queue.close();
    } catch (error) {
      queue.close(asError(error));
    }
  }

  /** Waits until the last pass is recent. */
  async #permitted(): Promise<void> {
    const { clock, timings, signal } = this.#options;
    while (clock.monotonicMs() - this.#renewedMs >= timings.passMsMax) await sleep(clock, timings.pollMs / 4, signal);
    if (signal.aborted) throw abortError(signal);
  }

  get comparison(): Comparison | undefined {
    return this.#comparison;
  }

  forgetComparison(): void {
    const failures = this.#comparison?.failures ?? 0;
    this.#failures = failures;
    this.#comparison = undefined;
  }

  #failures = 0;

  /** Compares both sides: at the revision of the switch, or at one that the new side has reached. */
  async compare(attempt: number | undefined, revision: Revision | undefined, signal: AbortSignal): Promise<void> {
    const { record, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const compare = record.to === 'Dedicated' ? this.#compareDedicated(revision, signal) : this.#compareVirtual(signal);
    const [old, now] = await compare;
    const isEqual = old.entries === now.entries && old.digest === now.digest;
    const failures = isEqual ? 0 : this.#failures + 1;
    this.#failures = failures;
    const tookMs = clock.monotonicMs() - startedMs;
    this.#comparison = { attempt, revision: now.revision, isEqual, objects: now.entries, tookMs, failures };
  }

  async #compareDedicated(revision: Revision | undefined, signal: AbortSignal) {
    const { record, tenant, dedicated } = this.#options;
    await using session = await dedicated.replica.open(record.id, signal);
    if (revision !== undefined) return await Promise.all([tenant.digest(signal), session.digest(revision)]);
    const old = await tenant.digest(signal);
    while ((this.#progress.position ?? 0) < old.revision) await this.#sleepShortly(signal);
    return [old, await session.digest(old.revision)] as const;
  }

  /** The received data has no history: the copy pauses. */
  async #compareVirtual(signal: AbortSignal) {
    const { record, tenant, dedicated } = this.#options;
    await using session = await dedicated.replica.open(record.id, signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pausedUntil = promise;
    try {
      while (!this.#isBetweenFrames) await this.#sleepShortly(signal);
      const now = await tenant.digest(signal);
      return [await session.digest(now.revision), now] as const;
    } finally {
      this.#pausedUntil = undefined;
      resolve();
    }
  }

  #sleepShortly(signal: AbortSignal): Promise<void> {
    return sleep(this.#options.clock, 5, signal);
  }
}

/** Returns the first frame and those that have arrived meanwhile, within the bounds of a request. */
async function grouped(first: ReplicaFrame, queue: BoundedQueue<ReplicaFrame>): Promise<ReplicaFrame[]> {
  const frames = [first];
  let bytes = bytesOf(first);
  while (queue.length > 0 && bytes < bytesPerCallMax) {
    const next = (await queue.take())!;
    frames.push(next);
    bytes += bytesOf(next);
  }
  return frames;
}

const bytesOf = (frame: ReplicaFrame): number =>
  frame.type === 'entry'
    ? frame.entry.value.length
    : frame.type === 'batch'
      ? frame.puts.reduce((sum, { value }) => sum + value.length, 0)
      : 0;

const revisionOf = (frame: ReplicaFrame): Revision | undefined => (frame.type === 'entry' ? undefined : frame.revision);
