/**
 * Received requests of one tenant that are not handled yet, because the tenant used up its slice of the turn.
 *
 * A request in the backlog is a callback. A request that waits in the `TenantQueue` is authenticated and classified, which costs time and
 * some kilobytes of memory that every garbage collection copies. So a flood stays in the backlog, and only as many of its requests are
 * handled as the tenant has time for.
 *
 * Connections take turns, one request each. Connections of privileged users precede all others of their tenant.
 */

import type { TenantQueue } from './tenant-queue.ts';

/** The requests of one connection, while it belongs to the same tenant. */
export class Source {
  readonly tenant: TenantQueue;
  readonly isPrivileged: boolean;
  readonly requests: (() => void)[] = [];

  constructor(tenant: TenantQueue, isPrivileged: boolean) {
    this.tenant = tenant;
    this.isPrivileged = isPrivileged;
  }
}

export class Backlog {
  count = 0;
  /** Sources with requests, in the order of their turns. */
  readonly #privileged = new Set<Source>();
  readonly #others = new Set<Source>();

  get hasPrivileged(): boolean {
    return this.#privileged.size > 0;
  }

  push(source: Source, handle: () => void): void {
    source.requests.push(handle);
    this.#sources(source).add(source);
    this.count++;
  }

  /** Removes and returns the next request. */
  take(): (() => void) | undefined {
    const source = first(this.#privileged) ?? first(this.#others);
    if (!source) return undefined;
    const sources = this.#sources(source);
    const handle = source.requests.shift();
    // Moved to the end.
    sources.delete(source);
    if (source.requests.length > 0) sources.add(source);
    this.count--;
    return handle;
  }

  #sources({ isPrivileged }: Source): Set<Source> {
    return isPrivileged ? this.#privileged : this.#others;
  }
}

const first = <T>(set: ReadonlySet<T>): T | undefined => set.values().next().value;
