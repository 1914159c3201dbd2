/**
 * Reads a snapshot of the database of one etcd member: the file of the database at one moment, followed by its SHA-256.
 *
 * The member may send only as much as the reader has consumed, plus the window of a stream, so memory is bounded however slow the reader
 * is. A member keeps a read transaction open while it sends, which keeps pages from reuse: a slow reader lets the database grow.
 */

import type { Client } from './client.ts';
import type { Call } from './grpc/connection.ts';
import { encodeEmpty, maintenanceMethods } from './messages/maintenance.ts';
import { decodeSnapshotPart } from './messages/snapshot.ts';
import { judge } from './verdict.ts';
import { StoreError } from '../../errors.ts';

/** Bytes of the prefix of a message of gRPC. */
const prefixBytes = 5;

/** Rejects with a StoreError. The stream is complete only if the generator returns. */
export async function* readSnapshot(client: Client): AsyncGenerator<Uint8Array, void, void> {
  const parts: Buffer[] = [];
  let [isEnded, wake]: [boolean, () => void] = [false, () => {}];
  let failure: unknown;
  let remainingBytes = 0;
  let call: Call | undefined;
  try {
    const deadlineMs = client.now() + client.requestTimeoutMs;
    const connection = await client.connected(client.requests, deadlineMs);
    call = await client.stream(connection, maintenanceMethods.snapshot, {
      isPaced: true,
      onMessage(message) {
        parts.push(message);
        wake();
      },
      onEnd(error) {
        [isEnded, failure] = [true, error];
        wake();
      },
    });
    call.end(encodeEmpty());
    for (;;) {
      const message = parts.shift();
      if (message) {
        const part = decodeSnapshotPart(message);
        remainingBytes = part.remainingBytes;
        if (part.bytes.length > 0) yield part.bytes;
        call.consumed(prefixBytes + message.length);
      } else if (isEnded) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    if (failure) throw failure;
    if (remainingBytes > 0)
      throw new StoreError('Unavailable', `etcd: the snapshot ends ${remainingBytes} bytes early`);
  } catch (error) {
    throw judge(error).error;
  } finally {
    if (!isEnded) call?.cancel();
  }
}
