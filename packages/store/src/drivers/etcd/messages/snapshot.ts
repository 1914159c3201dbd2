/** etcdserverpb.SnapshotResponse: one part of a snapshot. */

import { bytesField, MessageReader, uintField } from '@hangar/http2/grpc';

export interface SnapshotPart {
  /** A view of the message. */
  readonly bytes: Uint8Array;
  /** Bytes of the database that follow. 0 in the last part of the database and in the digest after it. */
  readonly remainingBytes: number;
}

export function decodeSnapshotPart(message: Buffer): SnapshotPart {
  const reader = new MessageReader(message);
  let [bytes, remainingBytes]: [Uint8Array, number] = [new Uint8Array(0), 0];
  while (reader.at < message.length) {
    const tag = reader.tag();
    if (tag === uintField(2)) remainingBytes = reader.uint();
    else if (tag === bytesField(3)) bytes = reader.bytes();
    else reader.skip();
  }
  return { bytes, remainingBytes };
}
