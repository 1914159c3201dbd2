/**
 * etcdserverpb.Txn of a replica. etcd executes the requests of a connection in any order, so a request does not belong to one change: it has
 * several consecutive changes, and makes the one that follows the position at which it is executed. A position outside of them, or a key
 * with another version than the source, makes it read the position only.
 *
 *     changes 101, 102–104, 105         position < 101 ─┬─ yes  position = 100, versions   make 101
 *     (102–104: revisions of others)                    └─ no   position < 104 ─┬─ yes …   write the position key
 *                                                                               └─ no  …   make 105
 *
 * Every change writes the position key. Its modRevision is the position, and its version counts the changes: both rise together unless others
 * write to etcd.
 */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import type { Entry, Revision } from '../../../contract.ts';
import type { ReplicaEntry } from '../../../replication/frames.ts';
import { leaseNumber } from './entry.ts';
import { headerField, readHeader } from './header.ts';
import { readRange } from './kv.ts';

/** Written by every transaction of a replica: its modRevision is the position. It is not below the prefix of an API server. */
export const positionKey = 'hangar/replica';

const results = { equal: 0, greater: 1, less: 2 } as const;
const targets = { version: 0, modRevision: 2 } as const;
/** Fields of the compared number. */
const numberFields = { version: 4, modRevision: 6 } as const;

interface Comparison {
  readonly key: string;
  readonly target: keyof typeof targets;
  readonly result: keyof typeof results;
  readonly number: number;
}

/** The transaction of one change, or of each of several changes without content. */
export interface EncodedChange {
  /** First and last revision. */
  readonly first: number;
  readonly last: number;
  /** TxnRequest without the prefix of gRPC. */
  readonly transaction: Buffer;
}

/** Revisions without content. */
export function encodeFill(first: number, last: number): EncodedChange {
  const comparisons: Comparison[] = [
    { key: positionKey, target: 'modRevision', result: 'greater', number: first - 2 },
    { key: positionKey, target: 'modRevision', result: 'less', number: last },
  ];
  return { first, last, transaction: encode(comparisons, 160, () => {}) };
}

export interface BatchRequest {
  readonly revision: Revision;
  /** Version of the position key before the batch. */
  readonly positionVersion: number;
  readonly prefix: string;
  readonly puts: readonly ReplicaEntry[];
  readonly deletes: readonly string[];
}

/** Conditional on the version of each key, so that etcd gives each key the version of its source. */
export function encodeBatch({ revision, positionVersion, prefix, puts, deletes }: BatchRequest): EncodedChange {
  const comparisons: Comparison[] = [
    { key: positionKey, target: 'modRevision', result: 'equal', number: revision - 1 },
    { key: positionKey, target: 'version', result: 'equal', number: positionVersion },
    ...puts.map(({ key, version }): Comparison => {
      return { key: prefix + key, target: 'version', result: 'equal', number: version - 1 };
    }),
    ...deletes.map((key): Comparison => ({ key: prefix + key, target: 'version', result: 'greater', number: 0 })),
  ];
  let sizeGuess = 256;
  for (const { key, value } of puts) sizeGuess += 64 + 2 * (prefix.length + key.length) + value.length;
  for (const key of deletes) sizeGuess += 32 + 2 * (prefix.length + key.length);
  const transaction = encode(comparisons, sizeGuess, (writer) => {
    for (const key of deletes) {
      writer.message(2, (operation) => operation.message(3, (range) => range.string(1, prefix + key)));
    }
    for (const { key, value, lease } of puts) {
      writer.message(2, (operation) =>
        operation.message(2, (put) => {
          if (lease) put.int64(3, leaseNumber(lease.id) ?? 0n);
          put.bytes(2, value).string(1, prefix + key);
        }),
      );
    }
  });
  return { first: revision, last: revision, transaction };
}

/** Fields are written from the last to the first. */
function encode(
  comparisons: readonly Comparison[],
  sizeGuess: number,
  writeOperations: (writer: MessageWriter) => void,
): Buffer {
  const writer = new MessageWriter(sizeGuess);
  writer.message(3, readPosition);
  writer.message(2, readPosition);
  writer.message(2, (operation) => operation.message(2, (put) => put.string(1, positionKey)));
  writeOperations(writer);
  for (const comparison of comparisons) writeComparison(writer, comparison);
  return writer.finish();
}

const readPosition = (operation: MessageWriter): void => {
  operation.message(1, (range) => range.flag(8, true).string(1, positionKey));
};

function writeComparison(writer: MessageWriter, { key, target, result, number }: Comparison): void {
  writer.message(1, (compare) =>
    compare.uint(numberFields[target], number).string(3, key).uint(2, targets[target]).uint(1, results[result]),
  );
}

/** Makes the change that follows the position. The changes are consecutive. */
export function encodeNextOf(changes: readonly EncodedChange[]): Buffer {
  const bytes = changes.reduce((sum, { transaction }) => sum + transaction.length + 96, 64);
  const writer = new MessageWriter(bytes);
  // Without a comparison, a transaction always succeeds.
  writer.message(2, (operation) => writeChoice(operation, changes, 0, changes.length));
  return writer.finishFrame();
}

/** Writes a nested transaction that makes one of the changes from `start` to `end`. */
function writeChoice(
  operation: MessageWriter,
  changes: readonly EncodedChange[],
  start: number,
  end: number,
): MessageWriter {
  if (end - start === 1) return operation.bytes(4, changes[start]!.transaction);
  const middle = (start + end) >> 1;
  const number = changes[middle]!.first - 1;
  return operation.message(4, (writer) => {
    writer.message(3, (later) => writeChoice(later, changes, middle, end));
    writer.message(2, (earlier) => writeChoice(earlier, changes, start, middle));
    writeComparison(writer, { key: positionKey, target: 'modRevision', result: 'less', number });
  });
}

export interface ReplicaTxnResponse {
  /** Revision of etcd. */
  readonly revision: Revision;
  /** Reports whether a change was made. */
  readonly isChanged: boolean;
  /** The position key, after the change. Undefined: etcd does not have it. */
  readonly position: Entry | undefined;
}

export function decodeReplicaTxn(message: Buffer): ReplicaTxnResponse {
  return readTxn(new MessageReader(message), message.length);
}

function readTxn(reader: MessageReader, end: number): ReplicaTxnResponse {
  let revision = 0 as Revision;
  let isChanged = false;
  let position: Entry | undefined;
  while (reader.at < end) {
    switch (reader.tag()) {
      case headerField:
        revision = readHeader(reader);
        break;
      case uintField(2):
        isChanged = reader.flag();
        break;
      case bytesField(3): {
        const responseEnd = reader.end();
        while (reader.at < responseEnd) {
          const tag = reader.tag();
          if (tag === bytesField(1)) position = readRange(reader, reader.end()).entries[0];
          else if (tag === bytesField(4)) ({ isChanged, position } = readTxn(reader, reader.end()));
          else reader.skip();
        }
        break;
      }
      default:
        reader.skip();
    }
  }
  return { revision, isChanged, position };
}
