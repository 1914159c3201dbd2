/**
 * etcdserverpb.Txn of a replica: each transaction writes the position key and is conditional on it, so that a repeated transaction, or one of
 * another follower, has no effect. The failure branch reads the position.
 */

import { MessageWriter } from '@hangar/http2/grpc';
import type { Revision } from '../../../contract.ts';
import type { ReplicaEntry } from '../../../replication/frames.ts';
import { leaseNumber } from './entry.ts';

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

/** Writes only the position key, unless the position has reached `to`. Many of them can be in flight, in any order. */
export const encodeFiller = (to: number): Buffer =>
  encode([{ key: positionKey, target: 'modRevision', result: 'less', number: to }], 64, () => {});

export interface BatchRequest {
  readonly position: Revision;
  readonly prefix: string;
  readonly puts: readonly ReplicaEntry[];
  readonly deletes: readonly string[];
}

/** Conditional on the position, and on the version of each key, so that etcd gives each key the version of its source. */
export function encodeBatch({ position, prefix, puts, deletes }: BatchRequest): Buffer {
  const comparisons: Comparison[] = [
    { key: positionKey, target: 'modRevision', result: 'equal', number: position },
    ...puts.map(({ key, version }): Comparison => {
      return { key: prefix + key, target: 'version', result: 'equal', number: version - 1 };
    }),
    ...deletes.map((key): Comparison => ({ key: prefix + key, target: 'version', result: 'greater', number: 0 })),
  ];
  let sizeGuess = 256;
  for (const { key, value } of puts) sizeGuess += 64 + 2 * (prefix.length + key.length) + value.length;
  for (const key of deletes) sizeGuess += 32 + 2 * (prefix.length + key.length);
  return encode(comparisons, sizeGuess, (writer) => {
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
}

/** Fields are written from the last to the first. */
function encode(
  comparisons: readonly Comparison[],
  sizeGuess: number,
  writeOperations: (writer: MessageWriter) => void,
): Buffer {
  const writer = new MessageWriter(sizeGuess);
  writer.message(3, (failure) => failure.message(1, (range) => range.flag(8, true).string(1, positionKey)));
  writer.message(2, (operation) => operation.message(2, (put) => put.string(1, positionKey)));
  writeOperations(writer);
  for (const { key, target, result, number } of comparisons) {
    writer.message(1, (compare) =>
      compare.uint(numberFields[target], number).string(3, key).uint(2, targets[target]).uint(1, results[result]),
    );
  }
  return writer.finishFrame();
}
