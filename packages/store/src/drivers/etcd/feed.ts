/**
 * The one watch on etcd that feeds the hub, which serves all watches of this process. It starts with the first of them.
 *
 * Invariants: the hub gets every revision that touched the shared prefix once, in order and whole, also across reconnects: a new stream
 * begins at the first revision that the hub does not have, and duplicates are dropped. When etcd has compacted that revision away, the gap
 * cannot be filled: every watch ends with `Compacted`, and a new hub begins after it.
 */

import { breathe, sleep } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import type { Revision, Watch, WatchOptions } from '../../contract.ts';
import { WatchHub } from '../../engine/hub.ts';
import type { HistoryPage } from '../../engine/hub.ts';
import { closed, CompactedError, StoreError } from '../../errors.ts';
import { prefixRange } from '../../keys.ts';
import type { Client } from './client.ts';
import type { Connection } from './grpc/connection.ts';
import { readHistory } from './history-reader.ts';
import type { WatchedEvent } from './messages/watch.ts';
import { RecentHistory } from './recent-history.ts';
import type { Revisions } from './revisions.ts';
import type { Scope } from './scope.ts';
import { byRevision } from './watched-revision.ts';
import type { Verdict } from './verdict.ts';
import { WatchStream } from './watch-stream.ts';

export interface FeedOptions {
  client: Client;
  clock: Clock;
  scope: Scope;
  revisions: Revisions;
  /** Reads the store's revision from the cluster. */
  currentRevision(): Promise<Revision>;
  /** Reports whether the cluster has compacted this revision. */
  isCompacted(revision: Revision): Promise<boolean>;
  watchQueueLengthMax: number | undefined;
  recentHistoryBytesMax: number;
}

/** A stream that lasted this long was healthy: the next one starts without a pause. */
const goodStreamMs = 1_000;
const askProgressEveryMs = 25;
/** The pause before a stream that repeats an incomplete event. */
const repeatPauseMs = 25;

interface Waiter {
  readonly revision: Revision;
  resolve(): void;
  reject(error: Error): void;
}

export class Feed {
  readonly #options: FeedOptions;
  #hub: WatchHub;
  #recent: RecentHistory;
  #running = false;
  #stream: WatchStream | undefined;
  #endStream: ((outcome: StreamOutcome) => void) | undefined;
  #waiters = new Set<Waiter>();
  #asking: Timer | undefined;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    const { newest } = options.revisions;
    this.#hub = this.#newHub(newest);
    this.#recent = this.#newRecent(newest);
  }

  watch(options: WatchOptions): Watch {
    this.#start();
    const fromRevision = options.fromRevision ?? ((this.#options.revisions.newest + 1) as Revision);
    return this.#hub.watch({ ...options, fromRevision });
  }

  /** Resolves when everything up to `revision` was published, or if no watch was ever opened. */
  async reached(revision: Revision): Promise<void> {
    if (!this.#running || this.#hub.revision >= revision) return;
    const { clock, client } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { revision, resolve, reject };
    const timer = clock.after(client.requestTimeoutMs, () => {
      reject(
        new StoreError(
          'Unavailable',
          `the watch of etcd did not reach revision ${revision} within ${client.requestTimeoutMs} ms`,
        ),
      );
      // The connected member is behind or stuck.
      this.#endStream?.({ lost: true });
    });
    this.#waiters.add(waiter);
    this.#askForProgress();
    try {
      await promise;
    } finally {
      timer.cancel();
      this.#waiters.delete(waiter);
    }
  }

  close(): void {
    this.#closed = true;
    this.#stop(closed());
    this.#hub.close();
  }

  #newHub(revision: Revision): WatchHub {
    const { watchQueueLengthMax: queueLengthMax } = this.#options;
    return new WatchHub({
      revision,
      history: {
        compactedRevision: () => this.#options.revisions.compacted,
        read: (span) => this.#read(span),
        published: async () => this.reached(await this.#options.currentRevision()),
      },
      ...(queueLengthMax !== undefined && { queueLengthMax }),
    });
  }

  #newRecent(hubRevision: Revision): RecentHistory {
    return new RecentHistory(this.#options.recentHistoryBytesMax, (hubRevision + 1) as Revision);
  }

  async #read(span: Required<WatchOptions> & { to: Revision }): Promise<HistoryPage> {
    const { client, clock, scope, revisions, isCompacted } = this.#options;
    if (span.fromRevision >= this.#recent.from) {
      await breathe(clock);
      // Checked again: the recent history may have moved.
      if (span.fromRevision >= this.#recent.from) return this.#recent.read(span);
    }
    const range = scope.cut(prefixRange(span.prefix));
    if (!range) return { batches: [], next: (span.to + 1) as Revision };
    try {
      return await readHistory(client, clock, { ...span, range, isCompacted });
    } catch (error) {
      if (error instanceof CompactedError) revisions.sawCompacted(error.compactedRevision);
      throw error;
    }
  }

  #start(): void {
    if (this.#running || this.#closed) return;
    this.#running = true;
    const { newest } = this.#options.revisions;
    // There are no watches yet: all events until now are history.
    this.#hub.advance(newest);
    this.#recent = this.#newRecent(this.#hub.revision);
    void this.#run();
  }

  async #run(): Promise<void> {
    const { client, clock } = this.#options;
    while (!this.#closed) {
      try {
        const connection = await client.connected(client.watches);
        const begunMs = clock.monotonicMs();
        const outcome = await this.#follow(connection);
        if (clock.monotonicMs() - begunMs >= goodStreamMs) client.watches.worked();
        if ('compactRevision' in outcome) {
          this.#skipTo(outcome.compactRevision);
          continue;
        }
        if ('lacksPrevious' in outcome) {
          await this.#recover(outcome.lacksPrevious);
          continue;
        }
        const needsToken = 'remedy' in outcome && outcome.remedy === 'authenticate' && client.renewToken();
        if ('code' in outcome && outcome.code !== 'Unavailable' && !needsToken) throw outcome.error;
        client.watches.failed(connection);
      } catch (error) {
        // Only refused credentials or closing lead here: all watches must fail.
        this.#stop(error as Error);
        return;
      }
    }
  }

  /** Skips the revision if etcd has compacted its previous values. Otherwise the next stream delivers it again, complete. */
  async #recover(revision: Revision): Promise<void> {
    const { clock, isCompacted } = this.#options;
    try {
      if (await isCompacted((revision - 1) as Revision)) this.#skipTo(revision);
      else await sleep(clock, repeatPauseMs);
    } catch {
      // The next stream meets the same problem and reports it.
    }
  }

  /** One stream, until it ends. */
  async #follow(connection: Connection): Promise<StreamOutcome> {
    const { client, scope } = this.#options;
    const { promise, resolve } = Promise.withResolvers<StreamOutcome>();
    const fromRevision = (this.#hub.revision + 1) as Revision;
    const request = { range: scope.range, fromRevision, previous: true };
    this.#endStream = resolve;
    this.#stream = new WatchStream(client, connection, request, {
      onCreated: () => this.#waiters.size > 0 && this.#stream?.requestProgress(),
      onEvents: (events) => this.#publish(events),
      onProgress: (revision) => this.#advance(revision),
      onCompacted: (compactRevision) => resolve({ compactRevision }),
      onEnd: resolve,
    });
    const outcome = await promise;
    this.#endStream = undefined;
    this.#stream.cancel();
    this.#stream = undefined;
    return outcome;
  }

  #publish(events: readonly WatchedEvent[]): void {
    for (const revision of byRevision(events)) {
      if (revision.revision <= this.#hub.revision) continue;
      if (revision.lacksPrevious) {
        this.#stream?.cancel(); // at once: nothing after this revision may reach the hub
        this.#endStream?.({ lacksPrevious: revision.revision });
        break;
      }
      this.#recent.add(revision);
      this.#hub.publish(revision);
    }
    this.#moved();
  }

  #advance(revision: Revision): void {
    this.#hub.advance(revision);
    this.#moved();
  }

  #moved(): void {
    const { revision } = this.#hub;
    this.#options.revisions.saw(revision);
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve();
  }

  /** etcd does not answer a watch that is catching up: repeat the request until it answers. */
  #askForProgress(): void {
    if (this.#asking) return;
    this.#stream?.requestProgress();
    this.#asking = this.#options.clock.after(askProgressEveryMs, () => {
      this.#asking = undefined;
      if (this.#waiters.size > 0) this.#askForProgress();
    });
  }

  #skipTo(compactRevision: Revision): void {
    const { revisions } = this.#options;
    const missed = (this.#hub.revision + 1) as Revision;
    revisions.sawCompacted(compactRevision);
    this.#renewHub(new CompactedError(missed, compactRevision));
  }

  /** Installs a new hub before the watches of the old one end, so that clients that watch again use the new one. */
  #renewHub(error: Error): void {
    const old = this.#hub;
    const { newest } = this.#options.revisions;
    this.#hub = this.#newHub(newest);
    this.#recent = this.#newRecent(newest);
    old.close(error);
    this.#moved();
  }

  #stop(error: Error): void {
    this.#running = false;
    this.#asking?.cancel();
    this.#asking = undefined;
    this.#stream?.cancel();
    this.#endStream?.({ lost: true });
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#renewHub(error);
  }
}

type StreamOutcome = Verdict | { compactRevision: Revision } | { lacksPrevious: Revision } | { lost: true };
