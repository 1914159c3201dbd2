/** Compares the queue with a naive model. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import * as fc from 'fast-check';
import type { Request } from '../controller/reconcile.ts';
import type { AddOptions } from './contract.ts';
import { Queue } from './queue.ts';

interface Known {
  readonly cluster: string;
  readonly name: string;
  queued: 'ready' | 'delayed' | undefined;
  isBusy: boolean;
  priority: number;
  failures: number;
  dueMs: number;
  /** Grows: items that became ready, or were delayed, earlier have a smaller one. */
  order: number;
}

/** No heaps, no links: finds the next item by a linear search. */
class Model {
  readonly known: Known[] = [];
  readonly paused = new Set<string>();
  nowMs = 0;
  #order = 0;
  readonly #maxPerCluster: number;
  /** Time at which a cluster got a ready request in a priority, or took its last turn there. */
  readonly #turns = new Map<string, number>();

  constructor(maxPerCluster: number) {
    this.#maxPerCluster = maxPerCluster;
  }

  #find(cluster: string, name: string): Known {
    let one = this.known.find((known) => known.cluster === cluster && known.name === name);
    if (!one) {
      one = { cluster, name, queued: undefined, isBusy: false, priority: 0, failures: 0, dueMs: 0, order: 0 };
      this.known.push(one);
    }
    return one;
  }

  #isHeld(cluster: string): boolean {
    const busy = this.known.filter((one) => one.cluster === cluster && one.isBusy).length;
    return this.paused.has(cluster) || busy >= this.#maxPerCluster;
  }

  #takeable(): Known[] {
    return this.known.filter((one) => one.queued === 'ready' && !one.isBusy && !this.#isHeld(one.cluster));
  }

  /** Called after every change: a cluster with newly available requests takes the last turn. */
  #note(): void {
    const lanes = new Set(this.#takeable().map(({ cluster, priority }) => `${priority} ${cluster}`));
    for (const lane of this.#turns.keys()) if (!lanes.has(lane)) this.#turns.delete(lane);
    for (const lane of lanes) if (!this.#turns.has(lane)) this.#turns.set(lane, this.#order++);
  }

  add(cluster: string, name: string, { priority = 0, afterMs = 0, rateLimited = false }: AddOptions): void {
    const one = this.#find(cluster, name);
    if (one.queued === undefined) one.priority = priority;
    if (priority > one.priority) {
      one.priority = priority;
      if (one.queued === 'ready') one.order = this.#order++;
    }
    const delayMs = Math.max(afterMs, rateLimited ? 5 * 2 ** one.failures++ : 0);
    if (delayMs > 0) {
      const dueMs = this.nowMs + delayMs;
      if (one.queued === undefined) Object.assign(one, { queued: 'delayed', dueMs, order: this.#order++ });
      else if (one.queued === 'delayed') one.dueMs = Math.min(one.dueMs, dueMs);
    } else if (one.queued !== 'ready') {
      Object.assign(one, { queued: 'ready', order: this.#order++ });
    }
    this.#note();
  }

  take(): Known | undefined {
    const highest = Math.max(...this.#takeable().map(({ priority }) => priority));
    const turn = (one: Known): number => this.#turns.get(`${one.priority} ${one.cluster}`)!;
    const [next] = this.#takeable()
      .filter(({ priority }) => priority === highest)
      .sort((a, b) => turn(a) - turn(b) || a.order - b.order);
    if (!next) return undefined;
    next.queued = undefined;
    next.isBusy = true;
    this.#turns.set(`${next.priority} ${next.cluster}`, this.#order++);
    this.#note();
    return next;
  }

  done(one: Known): void {
    one.isBusy = false;
    if (one.queued === 'ready') one.order = this.#order++;
    this.#note();
  }

  forget(cluster: string, name: string): void {
    this.#find(cluster, name).failures = 0;
  }

  pause(cluster: string): void {
    this.paused.add(cluster);
    this.#note();
  }

  resume(cluster: string): void {
    this.paused.delete(cluster);
    this.#note();
  }

  remove(cluster: string): void {
    for (const one of this.known) if (one.cluster === cluster) Object.assign(one, { queued: undefined, failures: 0 });
    this.#note();
  }

  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    const due = this.known.filter((one) => one.queued === 'delayed' && one.dueMs <= endMs);
    for (const one of due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)) {
      Object.assign(one, { queued: 'ready', order: this.#order++ });
      this.#note();
    }
    this.nowMs = endMs;
  }
}

const cluster = fc.constantFrom('a', 'b', 'c');
const name = fc.constantFrom('1', '2', '3', '4');
const which = fc.record({ cluster, name });
const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      which,
      options: fc.record(
        {
          priority: fc.constantFrom(-100, 0, 1),
          afterMs: fc.constantFrom(0, 1, 5, 20),
          rateLimited: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('done' as const), nth: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const, 'remove' as const), cluster }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 4, 10, 100) }) },
);

test('the queue does what its model does, whatever is asked of it', async () => {
  const property = fc.asyncProperty(
    fc.array(command, { maxLength: 120, size: 'max' }),
    fc.constantFrom(1, 2, Infinity),
    async (commands, maxPerCluster) => {
      const clock = new Scheduler(seededRandom(7));
      const queue = new Queue({ name: 'test', clock, maxPerCluster, rateLimit: { perCluster: false } });
      const model = new Model(maxPerCluster);
      const requestOf = (one: { cluster: string; name: string }): Request => ({ cluster: one.cluster, name: one.name });
      for (const one of commands) {
        if (one.do === 'add') {
          queue.add(requestOf(one.which), one.options as AddOptions);
          model.add(one.which.cluster, one.which.name, one.options as AddOptions);
        } else if (one.do === 'take') {
          const taken = queue.tryTake();
          const expected = model.take();
          assert.deepEqual(
            taken,
            expected && { request: { cluster: expected.cluster, name: expected.name }, priority: expected.priority },
          );
        } else if (one.do === 'done') {
          const busy = model.known.filter(({ isBusy }) => isBusy);
          const chosen = busy[one.nth % Math.max(1, busy.length)];
          if (!chosen) continue;
          queue.done(requestOf(chosen));
          model.done(chosen);
        } else if (one.do === 'forget') {
          queue.forget(requestOf(one.which));
          model.forget(one.which.cluster, one.which.name);
        } else if (one.do === 'advance') {
          await clock.advance(one.ms);
          model.advance(one.ms);
        } else if (one.do === 'remove') {
          void queue.removeCluster(one.cluster);
          model.remove(one.cluster);
        } else {
          queue[one.do](one.cluster);
          model[one.do](one.cluster);
        }
        assert.equal(queue.length, model.known.filter(({ queued }) => queued).length);
        assert.equal(queue.busyCount, model.known.filter(({ isBusy }) => isBusy).length);
        for (const { cluster, name, failures } of model.known) {
          assert.equal(queue.retriesOf({ cluster, name }), failures);
        }
      }
    },
  );
  await fc.assert(property, { numRuns: 500 });
});
