/** mvccpb.KeyValue: how etcd writes an entry. */

import { bytesField, owned, uintField } from '@hangar/http2/grpc';
import type { MessageReader } from '@hangar/http2/grpc';
import type { Entry, LeaseId, Revision } from '../../../contract.ts';
import { noBytes } from '../../../engine/rows.ts';

export function readEntry(reader: MessageReader): Entry {
  const end = reader.end();
  let key = '';
  let value: Uint8Array = noBytes;
  let createRevision = 0;
  let modRevision = 0;
  let version = 0;
  let lease: LeaseId | undefined;
  while (reader.at < end) {
    switch (reader.tag()) {
      case bytesField(1):
        key = reader.string();
        break;
      case uintField(2):
        createRevision = reader.uint();
        break;
      case uintField(3):
        modRevision = reader.uint();
        break;
      case uintField(4):
        version = reader.uint();
        break;
      case bytesField(5):
        value = owned(reader.bytes());
        break;
      case uintField(6):
        lease = leaseIdOf(reader.int64());
        break;
      default:
        reader.skip();
    }
  }
  return {
    key,
    value,
    createRevision: createRevision as Revision,
    modRevision: modRevision as Revision,
    version,
    lease,
  };
}

/** In hexadecimal, as etcdctl shows it; etcd's 0 means "none". */
export function leaseIdOf(id: bigint): LeaseId | undefined {
  return id === 0n ? undefined : (BigInt.asUintN(64, id).toString(16) as LeaseId);
}

/** Undefined for a text that no lease of etcd can have. */
export function leaseNumber(id: LeaseId): bigint | undefined {
  return /^[0-9a-f]{1,16}$/.test(id) ? BigInt.asIntN(64, BigInt(`0x${id}`)) || undefined : undefined;
}
