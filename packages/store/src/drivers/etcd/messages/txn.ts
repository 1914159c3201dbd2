/**
 * etcdserverpb.Txn: conditions become comparisons of mod revisions, and the failure branch reads every compared key, so that the answer of
 * a conflict includes the current entries.
 */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import type { Entry, Revision, Write } from '../../../contract.ts';
import { leaseNumber } from './entry.ts';
import { headerField, readHeader } from './header.ts';
import { readRange, writeRange } from './kv.ts';

const compareMod = 2;

export interface TxnRequest {
  writes: readonly Write[];
  /** Leave out the values of conflicting entries. */
  conflictsKeysOnly: boolean;
}

export function encodeTxn({ writes, conflictsKeysOnly }: TxnRequest): Buffer {
  const writer = new MessageWriter(sizeGuess(writes));
  for (let place = writes.length - 1; place >= 0; place--) {
    const write = writes[place]!;
    if (!isConditional(write)) continue;
    writer.message(3, (failure) => {
      failure.message(1, (range) => range.flag(8, conflictsKeysOnly).string(1, write.key));
    });
  }
  for (let place = writes.length - 1; place >= 0; place--) {
    const write = writes[place]!;
    if (write.type !== 'check') writer.message(2, (success) => writeOperation(success, write));
  }
  for (let place = writes.length - 1; place >= 0; place--) {
    const write = writes[place]!;
    if (!isConditional(write)) continue;
    writer.message(1, (compare) => compare.uint(6, write.expected).string(3, write.key).uint(2, compareMod));
  }
  return writer.finishFrame();
}

type Conditional = Exclude<Write, { type: 'deleteRange' }> & { expected: Revision };

export function isConditional(write: Write): write is Conditional {
  return write.type !== 'deleteRange' && write.expected !== undefined;
}

function writeOperation(operation: MessageWriter, write: Exclude<Write, { type: 'check' }>): void {
  switch (write.type) {
    case 'put': {
      const { key, value, lease } = write;
      operation.message(2, (put) => {
        if (lease !== undefined) put.int64(3, leaseNumber(lease) ?? 0n);
        put.bytes(2, value).string(1, key);
      });
      break;
    }
    case 'delete':
      operation.message(3, (remove) => remove.string(1, write.key));
      break;
    case 'deleteRange':
      operation.message(3, (remove) => writeRange(remove, write.range));
      break;
  }
}

function sizeGuess(writes: readonly Write[]): number {
  let size = 16;
  for (const write of writes) {
    if (write.type === 'deleteRange') size += 64 + write.range.start.length * 2;
    else size += 64 + write.key.length * 3 + (write.type === 'put' ? write.value.length : 0);
  }
  return size;
}

export interface TxnResponse {
  readonly revision: Revision;
  readonly succeeded: boolean;
  readonly deleted: number;
  /** In the failure branch: the current entry of each compared key, in order. */
  readonly compared: readonly (Entry | undefined)[];
}

export function decodeTxn(message: Buffer): TxnResponse {
  const reader = new MessageReader(message);
  const compared: (Entry | undefined)[] = [];
  let revision = 0 as Revision;
  let succeeded = false;
  let deleted = 0;
  while (reader.at < message.length) {
    switch (reader.tag()) {
      case headerField:
        revision = readHeader(reader);
        break;
      case uintField(2):
        succeeded = reader.flag();
        break;
      case bytesField(3): {
        const end = reader.end();
        while (reader.at < end) {
          const tag = reader.tag();
          if (tag === bytesField(1)) compared.push(readRange(reader, reader.end()).entries[0]);
          else if (tag === bytesField(3)) deleted += readDeleted(reader);
          else reader.skip();
        }
        break;
      }
      default:
        reader.skip();
    }
  }
  return { revision, succeeded, deleted, compared };
}

function readDeleted(reader: MessageReader): number {
  const end = reader.end();
  let deleted = 0;
  while (reader.at < end) {
    if (reader.tag() === uintField(2)) deleted = reader.uint();
    else reader.skip();
  }
  return deleted;
}
