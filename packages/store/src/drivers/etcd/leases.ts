/** Leases. etcd counts whole seconds and has its own shortest time; the granted time is returned. */

import type { Lease, LeaseId } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import type { Client } from './client.ts';
import { leaseIdOf, leaseNumber } from './messages/entry.ts';
import { decodeHeader } from './messages/header.ts';
import { decodeLease, encodeLeaseGrant, encodeLeaseId, leaseMethods } from './messages/lease.ts';
import type { Revisions } from './revisions.ts';

export class Leases {
  readonly #client: Client;
  readonly #revisions: Revisions;

  constructor(client: Client, revisions: Revisions) {
    this.#client = client;
    this.#revisions = revisions;
  }

  async grant(ttlMs: number): Promise<Lease> {
    const frame = encodeLeaseGrant(Math.ceil(ttlMs / 1000));
    // A grant whose answer was lost expires by itself, so a second one does no harm.
    const request = { method: leaseMethods.grant, frame, decode: decodeLease, repeatable: true };
    const { id, ttlSeconds, revision } = await this.#client.call(request);
    this.#revisions.saw(revision);
    return { id: leaseIdOf(id) ?? ('' as LeaseId), ttlMs: ttlSeconds * 1000 };
  }

  /** One message on a stream made for many: it ends after its answer like any other call. */
  async renew(id: LeaseId): Promise<void> {
    const frame = encodeLeaseId(numberOf(id));
    const request = { method: leaseMethods.keepAlive, frame, decode: decodeLease, repeatable: true };
    const { ttlSeconds, revision } = await this.#client.call(request);
    this.#revisions.saw(revision);
    if (ttlSeconds <= 0) throw leaseNotFound(id);
  }

  async ttlMs(id: LeaseId): Promise<number> {
    const frame = encodeLeaseId(numberOf(id));
    const request = { method: leaseMethods.timeToLive, frame, decode: decodeLease, repeatable: true };
    const { ttlSeconds, revision } = await this.#client.call(request);
    this.#revisions.saw(revision);
    if (ttlSeconds < 0) throw leaseNotFound(id);
    return ttlSeconds * 1000;
  }

  async revoke(id: LeaseId): Promise<void> {
    const frame = encodeLeaseId(numberOf(id));
    const request = { method: leaseMethods.revoke, frame, decode: decodeHeader, repeatable: false };
    this.#revisions.saw(await this.#client.call(request));
  }
}

export function numberOf(id: LeaseId): bigint {
  const number = leaseNumber(id);
  if (number === undefined) throw leaseNotFound(id);
  return number;
}

function leaseNotFound(id: LeaseId): StoreError {
  return new StoreError('LeaseNotFound', `lease ${id} not found: it expired, was revoked or never existed`);
}
