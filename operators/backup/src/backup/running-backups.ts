/**
 * The backups that this process is making. One namespace cannot use all workers, so that slow storage of one tenant does not stop the
 * backups of others.
 */

import type { ObjectKey } from '@hangar/client';
import { aborted } from '@hangar/core';
import type { RawSource } from '@hangar/runtime';

export interface RunningBackup extends Disposable {
  /** Aborted when the object is deleted. */
  readonly signal: AbortSignal;
}

interface Entry {
  readonly namespace: string;
  readonly stopping: AbortController;
}

export class RunningBackups {
  readonly #perNamespaceMax: number;
  readonly #running = new Map<string, Entry>();
  /** Requests that wait for a backup of their namespace to end, by namespace. In the order of their arrival. */
  readonly #waiting = new Map<string, Map<string, ObjectKey>>();
  #enqueue: (request: ObjectKey) => void = () => {};

  /** `concurrency`: number of workers. */
  constructor(concurrency: number) {
    this.#perNamespaceMax = Math.max(1, concurrency - 1);
  }

  /** Enqueues waiting requests when a backup of their namespace ends. */
  readonly source: RawSource = async ({ enqueue }, signal) => {
    this.#enqueue = (request) => enqueue(request);
    await aborted(signal);
    this.#enqueue = () => {};
  };

  /** Returns undefined while too many backups of the namespace run; the request is then enqueued later. */
  begin(uid: string, request: ObjectKey): RunningBackup | undefined {
    const namespace = request.namespace ?? '';
    const running = this.#running.values().filter((one) => one.namespace === namespace);
    if (running.toArray().length >= this.#perNamespaceMax) {
      const waiting = this.#waiting.get(namespace) ?? new Map<string, ObjectKey>();
      this.#waiting.set(namespace, waiting.set(request.name, request));
      return undefined;
    }
    const entry: Entry = { namespace, stopping: new AbortController() };
    this.#running.set(uid, entry);
    return {
      signal: entry.stopping.signal,
      [Symbol.dispose]: () => {
        this.#running.delete(uid);
        this.#enqueueNext(namespace);
      },
    };
  }

  #enqueueNext(namespace: string): void {
    const waiting = this.#waiting.get(namespace);
    const [next] = waiting ?? [];
    if (!waiting || !next) return;
    waiting.delete(next[0]);
    if (waiting.size === 0) this.#waiting.delete(namespace);
    this.#enqueue(next[1]);
  }

  /** Stops a backup. Returns false if it does not run. */
  stop(uid: string): boolean {
    const entry = this.#running.get(uid);
    entry?.stopping.abort();
    return entry !== undefined;
  }
}
