/**
 * Reads past events from etcd: opens a watch at the start, reads until it has passed the end of the requested span, and closes it. etcd
 * brings a new watch up to date every tenth of a second, a thousand revisions at a time.
 */

import { sleep } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import type { KeyRange, Revision, StoreEvent, WatchBatch } from '../../contract.ts';
import { CompactedError, StoreError } from '../../errors.ts';
import type { HistoryPage } from '../../engine/hub.ts';
import type { Client } from './client.ts';
import type { Connection } from './grpc/connection.ts';
import type { WatchedEvent } from './messages/watch.ts';
import { byRevision } from './watched-revision.ts';
import type { WatchedRevision } from './watched-revision.ts';
import type { Verdict } from './verdict.ts';
import { WatchStream } from './watch-stream.ts';
import type { WatchStreamHandler } from './watch-stream.ts';

export interface HistorySpan {
  range: KeyRange;
  fromRevision: Revision;
  /** Included; must be a past revision. */
  to: Revision;
  previous: boolean;
}

interface HistoryReadOptions extends HistorySpan {
  /** Reports whether the cluster has compacted this revision. */
  isCompacted(revision: Revision): Promise<boolean>;
}

const pageLength = 1_000;
const pageBytesMax = 8 * 1024 * 1024;
const askProgressEveryMs = 25;
const retryPauseMs = 50;

/**
 * Waits for etcd without a time limit: a watch that is behind resumes when its cluster does. Rejects with `Compacted`, `Unauthenticated` or
 * `Closed`.
 */
export async function readHistory(client: Client, clock: Clock, span: HistoryReadOptions): Promise<HistoryPage> {
  for (;;) {
    const connection = await client.connected(client.requests);
    const outcome = await new HistoryRead(client, clock, connection, span).outcome;
    if ('batches' in outcome) return outcome;
    if ('compactRevision' in outcome) throw new CompactedError(span.fromRevision, outcome.compactRevision);
    if ('lacksPrevious' in outcome) {
      const { lacksPrevious } = outcome;
      if (await span.isCompacted((lacksPrevious - 1) as Revision).catch(() => false))
        throw new CompactedError(span.fromRevision, lacksPrevious);
      await sleep(clock, retryPauseMs);
      continue;
    }
    const needsToken = outcome.remedy === 'authenticate' && client.renewToken();
    if (outcome.code !== 'Unavailable' && !needsToken) throw outcome.error;
    client.requests.failed(connection);
    await sleep(clock, retryPauseMs);
  }
}

/**
 * Returns the start of etcd's history, from how etcd refuses a watch from `asked`, which is known to be too old: the error of a read does
 * not include it. Undefined if it cannot be determined in time.
 */
export async function findCompactedRevision(
  client: Client,
  clock: Clock,
  where: { asked: Revision; range: KeyRange },
): Promise<Revision | undefined> {
  const fromRevision = Math.max(1, where.asked) as Revision;
  const span = { range: where.range, fromRevision, to: fromRevision, previous: false };
  try {
    const connection = await client.connected(client.requests, clock.monotonicMs() + client.requestTimeoutMs);
    const outcome = await new HistoryRead(client, clock, connection, span).outcome;
    return 'compactRevision' in outcome ? outcome.compactRevision : undefined;
  } catch {
    return undefined; // the caller has an error to report already
  }
}

type Outcome = HistoryPage | { compactRevision: Revision } | { lacksPrevious: Revision } | Verdict;

/** One watch from the past, from its beginning to its end. */
class HistoryRead implements WatchStreamHandler {
  readonly outcome: Promise<Outcome>;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #span: HistorySpan;
  readonly #stream: WatchStream;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #batches: WatchBatch[] = [];
  #bytes = 0;
  #timer: Timer | undefined;
  #heardMs: number;

  constructor(client: Client, clock: Clock, connection: Connection, span: HistorySpan) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#client = client;
    this.#clock = clock;
    this.#span = span;
    this.#heardMs = clock.monotonicMs();
    this.#stream = new WatchStream(client, connection, span, this);
    this.#askAgainLater();
  }

  onCreated(): void {
    this.#stream.requestProgress();
  }

  onEvents(events: readonly WatchedEvent[]): void {
    const { to, previous } = this.#span;
    this.#heardMs = this.#clock.monotonicMs();
    for (const revision of byRevision(events)) {
      if (revision.revision > to) return this.#complete((to + 1) as Revision);
      if (previous && revision.lacksPrevious) return this.#settle({ lacksPrevious: revision.revision });
      this.#add(revision);
    }
    if (this.#batches.length >= pageLength || this.#bytes >= pageBytesMax) {
      return this.#complete((this.#batches.at(-1)!.revision + 1) as Revision);
    }
    return this.#stream.requestProgress();
  }

  onProgress(revision: Revision): void {
    this.#heardMs = this.#clock.monotonicMs();
    if (revision >= this.#span.to) this.#complete((this.#span.to + 1) as Revision);
  }

  onCompacted(compactRevision: Revision): void {
    this.#settle({ compactRevision });
  }

  onEnd(verdict: Verdict): void {
    this.#settle(verdict);
  }

  #add(revision: WatchedRevision): void {
    const events: StoreEvent[] = revision.keys.map((_, index) => revision.event(index, this.#span.previous));
    this.#batches.push({ revision: revision.revision, events });
    this.#bytes += revision.bytes;
  }

  #complete(next: Revision): void {
    this.#settle({ batches: this.#batches, next });
  }

  #settle(outcome: Outcome): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#stream.cancel();
    this.#resolve(outcome);
  }

  #askAgainLater(): void {
    this.#timer = this.#clock.after(askProgressEveryMs, () => {
      const { requestTimeoutMs } = this.#client;
      if (this.#clock.monotonicMs() - this.#heardMs > requestTimeoutMs) {
        const error = new StoreError('Unavailable', `etcd returned no history within ${requestTimeoutMs} ms`);
        return this.#settle({ code: 'Unavailable', executed: 'no', remedy: 'elsewhere', error });
      }
      this.#stream.requestProgress();
      return this.#askAgainLater();
    });
  }
}
