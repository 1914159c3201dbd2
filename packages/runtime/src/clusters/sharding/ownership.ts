/**
 * The right to work on one cluster, as long as the peer's lease is believed in. It ends in two steps: `retire` says that nothing new may
 * begin, and what is under way may finish, writes included, since nobody else gets the cluster before it has come to rest; `end` says that
 * nothing may be written any more.
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
    // The timer that ends it may be late: a process that was stopped comes back with a clock that knows, and a timer that does not.
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
