/** A writer that continues through faults, and a watcher that must see exactly the commits of the writer. */

import assert from 'node:assert/strict';
import type { Revision, Store, WatchBatch } from '../../../contract.ts';

/** Commits until it is stopped. Records acknowledged and uncertain commits. */
export class Writer {
  /** Acknowledged content by revision. */
  readonly acknowledged = new Map<Revision, string>();
  readonly uncertain = new Set<string>();
  readonly #store: Store;
  readonly #prefix: string;
  #stopped = false;
  #running: Promise<void>;

  constructor(store: Store, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Resolves when this many more commits were acknowledged. */
  async progress(commits: number, withinMs: number): Promise<void> {
    const target = this.acknowledged.size + commits;
    const endMs = performance.now() + withinMs;
    while (this.acknowledged.size < target) {
      assert.ok(performance.now() < endMs, `only ${this.acknowledged.size} of ${target} commits within ${withinMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#stopped; at++) {
      const text = String(at);
      try {
        const key = `${this.#prefix}${at % 17}`;
        const { revision } = await this.#store.commit([{ type: 'put', key, value: Buffer.from(text) }]);
        this.acknowledged.set(revision, text);
      } catch (error) {
        assert.equal((error as { code: string }).code, 'Unavailable', String(error));
        this.uncertain.add(text);
      }
    }
  }
}

/** Checks the batches of a watch of everything that one writer wrote: in order, without duplicates, gaps or foreign events. */
export function checkSeen(writer: Writer, batches: readonly WatchBatch[]): void {
  const seen = new Map<Revision, string>();
  let last = 0;
  for (const { revision, events } of batches) {
    if (events.length === 0) continue;
    assert.ok(revision > last, `revision ${revision} after ${last}`);
    last = revision;
    assert.equal(events.length, 1);
    const event = events[0]!;
    assert.ok(event.type === 'put');
    seen.set(revision, Buffer.from(event.entry.value).toString());
  }
  for (const [revision, text] of writer.acknowledged) {
    assert.equal(seen.get(revision), text, `the acknowledged commit of revision ${revision} was not seen`);
  }
  for (const [revision, text] of seen) {
    assert.ok(writer.acknowledged.has(revision) || writer.uncertain.has(text), `${text} was seen but never written`);
  }
  assert.equal(new Set(seen.values()).size, seen.size, 'a commit happened twice');
}
