/**
 * Leases of a replica. A key of a replica never expires before that of its source, because etcd would delete it at another revision: leases get at least
 * a minimal time, and are renewed while frames are applied. The source deletes the keys by its frames.
 */

import { eachAtOnce } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { GrpcError } from '@hangar/http2/grpc';
import type { LeaseId } from '../../../contract.ts';
import { StoreError } from '../../../errors.ts';
import type { ReplicaLease } from '../../../replication/frames.ts';
import type { Client } from '../client.ts';
import { numberOf } from '../leases.ts';
import { decodeLease, decodeLeases, encodeLeaseGrant, encodeLeaseId, leaseMethods } from '../messages/lease.ts';
import { encodeEmpty } from '../messages/maintenance.ts';

export interface ReplicaLeasesOptions {
  readonly client: Pick<Client, 'call'>;
  readonly clock: Clock;
  readonly ttlMinMs: number;
}

const grantedMax = 10_000;
const renewalsAtOnce = 8;
const leaseExists = 'etcdserver: lease already exists';

export class ReplicaLeases {
  readonly #options: ReplicaLeasesOptions;
  /** Leases that etcd has, so that they are not granted again with each entry. */
  readonly #granted = new Set<LeaseId>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ReplicaLeasesOptions) {
    this.#options = options;
  }

  /** Grants the leases that etcd does not have. */
  async grant(leases: readonly ReplicaLease[]): Promise<void> {
    const missing = new Map(leases.filter(({ id }) => !this.#granted.has(id)).map((lease) => [lease.id, lease]));
    await eachAtOnce(renewalsAtOnce, missing.values(), async ({ id, ttlMs }) => {
      await this.#grant(numberOf(id), Math.max(ttlMs, this.#options.ttlMinMs));
      if (this.#granted.size >= grantedMax) this.#granted.clear();
      this.#granted.add(id);
    });
  }

  /** Called when etcd did not find a lease that was granted. */
  forget(): void {
    this.#granted.clear();
  }

  /** Renews all leases of etcd, now and from time to time, until `close`. */
  keepAlive(): void {
    if (this.#timer || this.#isClosed) return;
    const { clock, ttlMinMs } = this.#options;
    this.#timer = clock.after(ttlMinMs / 3, () => {
      this.#timer = undefined;
      this.keepAlive();
    });
    // A lease that was not renewed has time for two more attempts.
    void this.#renewAll().catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #grant(id: bigint, ttlMs: number): Promise<void> {
    const frame = encodeLeaseGrant(Math.ceil(ttlMs / 1_000), id);
    try {
      await this.#options.client.call({
        method: leaseMethods.grant,
        frame,
        decode: decodeLease,
        repeatable: true,
      });
    } catch (error) {
      const cause = error instanceof StoreError ? error.cause : undefined;
      if (!(cause instanceof GrpcError && cause.message === leaseExists)) throw error;
    }
  }

  async #renewAll(): Promise<void> {
    const { client } = this.#options;
    const list = { method: leaseMethods.list, frame: encodeEmpty(), decode: decodeLeases, repeatable: true };
    await eachAtOnce(renewalsAtOnce, await client.call(list), async (id) => {
      if (this.#isClosed) return;
      const frame = encodeLeaseId(id);
      await client.call({ method: leaseMethods.keepAlive, frame, decode: decodeLease, repeatable: true });
    });
  }
}
