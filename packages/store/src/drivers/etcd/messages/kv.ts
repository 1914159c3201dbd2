/** etcdserverpb.KV: reading and compacting. */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import type { Entry, KeyRange, Revision } from '../../../contract.ts';
import { noBytes } from '../../../engine/rows.ts';
import { readEntry } from './entry.ts';
import { headerField, readHeader } from './header.ts';

export const methods = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
} as const;

/** etcd's smallest key; as the end of a range it means "to the last key". */
const nul = '\u0000';

export interface RangeRequest {
  /** Bytes at the end of a page, because foreign keys need not be text. */
  start: string | Uint8Array;
  end: string | undefined;
  limit: number;
  /** 0: the newest. */
  revision: Revision;
  keysOnly: boolean;
}

export function encodeRange({ start, end, limit, revision, keysOnly }: RangeRequest): Buffer {
  const writer = new MessageWriter(64 + start.length * 2).flag(8, keysOnly);
  if (revision > 0) writer.uint(4, revision);
  if (limit > 0) writer.uint(3, limit);
  writer.string(2, end ?? nul);
  if (typeof start === 'string') writer.string(1, start === '' ? nul : start);
  else writer.bytes(1, start);
  return writer.finishFrame();
}

export function encodeGet(key: string, revision: Revision): Buffer {
  const writer = new MessageWriter(32 + key.length);
  if (revision > 0) writer.uint(4, revision);
  return writer.string(1, key).finishFrame();
}

/** Fields 1 and 2, which etcd's requests for ranges (Range, DeleteRange, WatchCreate) have in common. */
export function writeRange(writer: MessageWriter, range: KeyRange): MessageWriter {
  return writer.string(2, range.end ?? nul).string(1, range.start === '' ? nul : range.start);
}

/** Counts one key that is never written: the cheapest read that returns the revision. */
export function encodeRevisionProbe(prefix: string): Buffer {
  return new MessageWriter().flag(9, true).string(1, `${prefix}${nul}`).finishFrame();
}

export interface RangeResponse {
  readonly revision: Revision;
  readonly entries: Entry[];
  readonly more: boolean;
  /** The key of the last entry as etcd has it. */
  readonly lastKey: Uint8Array;
}

/** The first key after `key`. */
export function successorOf(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

export function decodeRange(message: Buffer): RangeResponse {
  return readRange(new MessageReader(message), message.length);
}

export function readRange(reader: MessageReader, end: number): RangeResponse {
  const entries: Entry[] = [];
  let revision = 0 as Revision;
  let more = false;
  let last = -1;
  while (reader.at < end) {
    switch (reader.tag()) {
      case headerField:
        revision = readHeader(reader);
        break;
      case bytesField(2):
        last = reader.at;
        entries.push(readEntry(reader));
        break;
      case uintField(3):
        more = reader.flag();
        break;
      default:
        reader.skip();
    }
  }
  return { revision, entries, more, lastKey: last < 0 ? noBytes : rawKeyAt(reader.buffer, last) };
}

function rawKeyAt(buffer: Buffer, at: number): Uint8Array {
  const reader = new MessageReader(buffer);
  reader.at = at;
  const end = reader.end();
  while (reader.at < end) {
    if (reader.tag() === bytesField(1)) return reader.bytes();
    reader.skip();
  }
  return noBytes;
}

/** `isPhysical`: the member answers after it removed the revisions from its database. */
export function encodeCompact(revision: Revision, isPhysical = false): Buffer {
  return new MessageWriter(16).flag(2, isPhysical).uint(1, revision).finishFrame();
}
