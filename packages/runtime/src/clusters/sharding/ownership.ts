/**
 * The right to work on one cluster while the lease of the peer is valid. It ends in two steps. After `retire`, no new work may start, and
 * running work may finish, including writes, because no other peer acquires the cluster before it has drained. After `end`, all writes are
 * rejected.
 */

import { RuntimeError } from '../../errors.ts';
import type { ClusterName } from '../../cluster.ts';
import type { Ownership } from '../contract.ts';
import type { Validity } from './validity.ts';

export class ShardOwnership implements Ownership {
  readonly token: number;
  readonly #cluster: ClusterName;
  readonly #validity: Validity;
  readonly #controller = new AbortController();
  #ended: RuntimeError | undefined;

  constructor({ cluster, token, validity }: { cluster: ClusterName; token: number; validity: Validity }) {
    this.#cluster = cluster;
    this.token = token;
    this.#validity = validity;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  check(): void {
    if (this.#ended) throw this.#ended;
    // The timer that ends it may be late: a suspended process resumes with a correct clock and an overdue timer.
    if (this.#validity.remainingMs() <= 0) throw fenced(this.#cluster, 'the lease was not renewed in time');
  }

  remainingMs(): number {
    return this.#ended ? 0 : this.#validity.remainingMs();
  }

  retire(why: string): void {
    this.#controller.abort(fenced(this.#cluster, why));
  }

  end(why: string): void {
    this.#ended ??= fenced(this.#cluster, why);
    this.#controller.abort(this.#ended);
  }
}

const fenced = (cluster: ClusterName, why: string): RuntimeError =>
  new RuntimeError('Fenced', `cluster "${cluster}" is no longer owned by this process: ${why}`);
