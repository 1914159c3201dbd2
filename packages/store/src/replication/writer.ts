/**
 * Writes a replica: applies frames to a key range of a store that restores revisions. Each transaction also moves the position of the
 * replica, so a request can be repeated after any failure.
 *
 *     const writer = new ReplicaWriter({ store, prefix: '/registry/clusters/demo/', positionKey: '/migrations/demo' });
 *     await writer.apply(decodeFrames(request, { complete: true }));
 *
 * The range must not be visible to clients: a snapshot is applied in many transactions, and a large batch in several.
 */

import { asError } from '@hangar/core';
import type { Entry, Revision, Store, Write } from '../contract.ts';
import { absent } from '../contract.ts';
import { StoreError } from '../errors.ts';
import { checkKey, compareKeys, prefixRange, successor } from '../keys.ts';
import { checkRestored, restoredRevisionMax, transactionWritesMax } from '../limits.ts';
import { failed } from '../transfer/framing.ts';
import { pagesIn } from '../transfer/transfer.ts';
import type { ReplicaEntry, ReplicaFrame } from './frames.ts';
import { ReplicaLeases } from './leases.ts';
import { advance, decodePosition, encodePosition, receivedOf, startPosition } from './position.ts';
import type { ReplicaPosition } from './position.ts';

export interface ReplicaWriterOptions {
  readonly store: Store;
  readonly prefix: string;
  /** Key of the position. It may be in the range. Deleting it makes the next snapshot replace the range. */
  readonly positionKey: string;
  /** Keys below the prefix that are not part of the replica. They are kept, and refused in frames. */
  omits?(key: string): boolean;
}

/** A transaction is closed when it has more bytes. */
const transactionBytes = 512 * 1024;

type Change =
  | { readonly type: 'put'; readonly entry: ReplicaEntry }
  | { readonly type: 'delete'; readonly key: string };

export class ReplicaWriter {
  readonly #options: ReplicaWriterOptions;
  readonly #leases: ReplicaLeases;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ReplicaWriterOptions) {
    this.#options = options;
    this.#leases = new ReplicaLeases(options.store);
  }

  async position(): Promise<ReplicaPosition> {
    return (await this.#stored()).position;
  }

  /**
   * Applies frames in order and returns the position after them. Skips frames that the replica has. Rejects with `ImportFailed` if frames
   * are missing or invalid, or if another writer moves the position; frames before that are applied. One call runs at a time.
   */
  apply(frames: AsyncIterable<ReplicaFrame> | Iterable<ReplicaFrame>): Promise<ReplicaPosition> {
    const applied = this.#running.then(() => this.#apply(frames));
    this.#running = applied.catch(() => {});
    return applied;
  }

  async #apply(frames: AsyncIterable<ReplicaFrame> | Iterable<ReplicaFrame>): Promise<ReplicaPosition> {
    await this.#leases.renew();
    const { position, revision } = await this.#stored();
    const run = new Run(this.#options, this.#leases, { position, revision });
    try {
      for await (const frame of frames) await run.add(frame);
    } catch (error) {
      // The frames before it are intact, unless the store failed.
      await run.close().catch(() => {});
      throw error;
    }
    await run.close();
    return run.position;
  }

  async #stored(): Promise<{ position: ReplicaPosition; revision: Revision }> {
    const { entry } = await this.#options.store.get(this.#options.positionKey);
    return entry
      ? { position: decodePosition(entry.value), revision: entry.modRevision }
      : { position: startPosition, revision: absent };
  }
}

/** One call of `apply`. */
class Run {
  readonly #options: ReplicaWriterOptions;
  readonly #leases: ReplicaLeases;
  /** The position after the frames that were added. */
  position: ReplicaPosition;
  #stored: ReplicaPosition;
  #storedRevision: Revision;
  /** Changes that are not written yet, by key: only the last one of a key matters. */
  readonly #changes = new Map<string, Change>();
  #bytes = 0;
  /** Entries of the replica behind the last entry of the snapshot. */
  #present: PresentEntries | undefined;

  constructor(
    options: ReplicaWriterOptions,
    leases: ReplicaLeases,
    stored: { position: ReplicaPosition; revision: Revision },
  ) {
    this.#options = options;
    this.#leases = leases;
    this.position = stored.position;
    this.#stored = stored.position;
    this.#storedRevision = stored.revision;
  }

  async add(frame: ReplicaFrame): Promise<void> {
    const next = advance(this.position, frame);
    if (!next) return;
    // Before the first change: an invalid frame changes nothing.
    this.#check(frame);
    switch (frame.type) {
      case 'entry': {
        const present = await this.#deletePresent(frame.place!.snapshot, frame.entry.key);
        if (!present || !isSame(present, frame.entry)) await this.#add({ type: 'put', entry: frame.entry });
        break;
      }
      case 'snapshot':
        await this.#deletePresent(frame.revision, undefined);
        break;
      case 'batch':
        for (const entry of frame.puts) await this.#add({ type: 'put', entry });
        for (const key of frame.deletes) await this.#add({ type: 'delete', key });
        break;
      case 'progress':
        break;
    }
    this.position = next;
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    if (this.#changes.size > 0 || this.position !== this.#stored) await this.#flush();
  }

  /** Deletes the entries of the replica before a key that the snapshot does not have. Returns the entry with the key. */
  async #deletePresent(snapshot: Revision, key: string | undefined): Promise<Entry | undefined> {
    const { store, prefix } = this.#options;
    if (this.#present?.snapshot !== snapshot)
      this.#present = new PresentEntries({
        store,
        prefix,
        snapshot,
        after: receivedOf(this.position, snapshot).lastKey,
      });
    for (;;) {
      const entry = await this.#present.peek();
      if (!entry) return undefined;
      const below = entry.key.slice(prefix.length);
      const order = key === undefined ? -1 : compareKeys(below, key);
      if (order > 0) return undefined;
      this.#present.take();
      if (order === 0) return entry;
      if (!this.#isOmitted(below)) await this.#add({ type: 'delete', key: below });
    }
  }

  async #add(change: Change): Promise<void> {
    const [key, bytes] =
      change.type === 'put'
        ? [change.entry.key, change.entry.key.length + change.entry.value.length]
        : [change.key, change.key.length];
    const isFull = this.#changes.size >= transactionWritesMax - 1 || this.#bytes + bytes > transactionBytes;
    if (isFull && this.#changes.size > 0) await this.#flush();
    this.#changes.set(key, change);
    this.#bytes += bytes;
  }

  /** Writes the changes and the position after the last complete frame: the changes of an incomplete one are repeated after a failure. */
  async #flush(): Promise<void> {
    const { positionKey } = this.#options;
    const position: Write = {
      type: 'put',
      key: positionKey,
      value: encodePosition(this.position),
      expected: this.#storedRevision,
      ...(this.position.revision > 0 && { revisionMin: this.position.revision }),
    };
    // A value near the limit is written in a separate transaction.
    if (this.#bytes > transactionBytes) {
      const check: Write = { type: 'check', key: positionKey, expected: this.#storedRevision };
      await this.#commit(async () => [...(await this.#writes()), check]);
      this.#clear();
    }
    const { revision } = await this.#commit(async () => [...(await this.#writes()), position]);
    this.#storedRevision = revision;
    this.#stored = this.position;
    this.#clear();
  }

  #clear(): void {
    this.#changes.clear();
    this.#bytes = 0;
  }

  async #commit(writes: () => Promise<Write[]>): Promise<{ revision: Revision }> {
    const { store, positionKey } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        const result = await store.commit(await writes());
        if (result.committed) return result;
        throw failed(`another request moves the position ${JSON.stringify(positionKey)}: try again`);
      } catch (error) {
        // A lease expired between its grant and the commit: the second attempt has another one.
        if (!(error instanceof StoreError) || error.code !== 'LeaseNotFound' || attempt > 0) throw error;
        await this.#leases.renew();
      }
    }
  }

  async #writes(): Promise<Write[]> {
    const { prefix } = this.#options;
    const writes: Write[] = [];
    for (const [below, change] of this.#changes) {
      const key = prefix + below;
      if (change.type === 'delete') {
        this.#leases.detach(below);
        writes.push({ type: 'delete', key });
        continue;
      }
      const { value, createRevision, modRevision, version, lease: sourceLease } = change.entry;
      const lease = await this.#leases.attach(below, sourceLease);
      const restored = { createRevision, modRevision, version };
      writes.push({ type: 'put', key, value, restored, ...(lease !== undefined && { lease }) });
    }
    return writes;
  }

  #check(frame: ReplicaFrame): void {
    const revision = frame.type === 'entry' ? frame.place!.snapshot : frame.revision;
    if (revision > restoredRevisionMax) throw failed(`revision ${revision} is too large`);
    if (frame.type === 'entry') this.#checkEntry(frame.entry, revision);
    if (frame.type !== 'batch') return;
    for (const entry of frame.puts) this.#checkEntry(entry, revision);
    for (const key of frame.deletes) this.#checkKey(key);
  }

  #checkEntry(entry: ReplicaEntry, revisionMax: Revision): void {
    this.#checkKey(entry.key);
    if (entry.modRevision > revisionMax)
      throw failed(`${JSON.stringify(entry.key)} has revision ${entry.modRevision}, which is after ${revisionMax}`);
    invalidFrame(() => checkRestored(entry));
  }

  #checkKey(key: string): void {
    invalidFrame(() => checkKey(this.#options.prefix + key));
    if (this.#isOmitted(key)) throw failed(`${JSON.stringify(key)} is not part of the replica`);
  }

  #isOmitted(key: string): boolean {
    const { prefix, positionKey, omits } = this.#options;
    return prefix + key === positionKey || (omits?.(key) ?? false);
  }
}

/** Runs a check of the store, whose errors mean here that the stream is invalid. */
function invalidFrame(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw failed(asError(error).message, { cause: error });
  }
}

function isSame(present: Entry, entry: ReplicaEntry): boolean {
  return (
    present.modRevision === entry.modRevision &&
    present.createRevision === entry.createRevision &&
    present.version === entry.version &&
    present.lease === undefined &&
    entry.lease === undefined &&
    Buffer.compare(present.value, entry.value) === 0
  );
}

/** Entries of a range after a key, in order, read in pages while a snapshot is received. */
class PresentEntries {
  readonly snapshot: Revision;
  readonly #pages: AsyncGenerator<{ readonly entries: readonly Entry[] }, void, void>;
  #entries: readonly Entry[] = [];
  #next = 0;

  constructor({ store, prefix, snapshot, after }: { store: Store; prefix: string; snapshot: Revision; after: string }) {
    const range = prefixRange(prefix);
    this.snapshot = snapshot;
    this.#pages = pagesIn(store, after === '' ? range : { ...range, start: successor(prefix + after) });
  }

  async peek(): Promise<Entry | undefined> {
    while (this.#next >= this.#entries.length) {
      const { done, value } = await this.#pages.next();
      if (done) return undefined;
      [this.#entries, this.#next] = [value.entries, 0];
    }
    return this.#entries[this.#next];
  }

  take(): void {
    this.#next++;
  }
}
