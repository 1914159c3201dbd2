/** etcdserverpb.Lease. */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import { headerField, readHeader } from './header.ts';
import type { Revision } from '../../../contract.ts';

export const leaseMethods = {
  grant: '/etcdserverpb.Lease/LeaseGrant',
  revoke: '/etcdserverpb.Lease/LeaseRevoke',
  keepAlive: '/etcdserverpb.Lease/LeaseKeepAlive',
  timeToLive: '/etcdserverpb.Lease/LeaseTimeToLive',
  list: '/etcdserverpb.Lease/LeaseLeases',
} as const;

/** Without an id, etcd chooses it. */
export function encodeLeaseGrant(ttlSeconds: number, id?: bigint): Buffer {
  const writer = new MessageWriter(24);
  if (id !== undefined) writer.int64(2, id);
  return writer.uint(1, ttlSeconds).finishFrame();
}

/** Encodes a request of LeaseRevoke, LeaseKeepAlive or LeaseTimeToLive, which are the same. */
export function encodeLeaseId(id: bigint): Buffer {
  return new MessageWriter(16).int64(1, id).finishFrame();
}

export interface LeaseResponse {
  readonly revision: Revision;
  readonly id: bigint;
  /** 0 or less after a renewal, and less than 0 as the remaining time: the lease has expired. */
  readonly ttlSeconds: number;
}

/** Decodes a response of LeaseGrant, LeaseKeepAlive or LeaseTimeToLive, which are the same. */
export function decodeLease(message: Buffer): LeaseResponse {
  const reader = new MessageReader(message);
  let revision = 0 as Revision;
  let id = 0n;
  let ttl = 0n;
  while (reader.at < message.length) {
    switch (reader.tag()) {
      case headerField:
        revision = readHeader(reader);
        break;
      case uintField(2):
        id = reader.int64();
        break;
      case uintField(3):
        ttl = reader.int64();
        break;
      default:
        reader.skip();
    }
  }
  return { revision, id, ttlSeconds: Number(ttl) };
}

/** Decodes a response of LeaseLeases: the ids of all leases. */
export function decodeLeases(message: Buffer): bigint[] {
  const reader = new MessageReader(message);
  const ids: bigint[] = [];
  while (reader.at < message.length) {
    if (reader.tag() !== bytesField(2)) {
      reader.skip();
      continue;
    }
    const end = reader.end();
    while (reader.at < end) {
      if (reader.tag() === uintField(1)) ids.push(reader.int64());
      else reader.skip();
    }
  }
  return ids;
}
