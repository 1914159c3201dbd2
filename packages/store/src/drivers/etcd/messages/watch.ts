/** etcdserverpb.Watch. One stream carries one watch here, so watch ids are ignored. */

import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';
import type { Entry, KeyRange, Revision } from '../../../contract.ts';
import { readEntry } from './entry.ts';
import { headerField, readHeader } from './header.ts';
import { writeRange } from './kv.ts';

export const watchMethod = '/etcdserverpb.Watch/Watch';

export interface WatchRequest {
  range: KeyRange;
  fromRevision: Revision;
  previous: boolean;
}

/** `progress_notify` costs etcd a message every ten minutes and lets an idle watch follow the revision. */
export function encodeWatchCreate({ range, fromRevision, previous }: WatchRequest): Buffer {
  return new MessageWriter(64 + range.start.length * 2)
    .message(1, (create) => {
      create.flag(6, previous).flag(4, true).uint(3, fromRevision);
      writeRange(create, range);
    })
    .finishFrame();
}

export function encodeWatchProgress(): Buffer {
  return new MessageWriter(8).message(3, () => {}).finishFrame();
}

export interface WatchedEvent {
  readonly deleted: boolean;
  /** For a deletion, only `key` and `modRevision`. */
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}

export interface WatchResponse {
  readonly revision: Revision;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Not 0: the watch ended because it began before this revision. */
  readonly compactRevision: Revision;
  readonly cancelReason: string;
  /** More events of the last revision follow in the next response. */
  readonly fragment: boolean;
  readonly events: WatchedEvent[];
}

export function decodeWatch(message: Buffer): WatchResponse {
  const reader = new MessageReader(message);
  const response = {
    revision: 0 as Revision,
    created: false,
    canceled: false,
    compactRevision: 0 as Revision,
    cancelReason: '',
    fragment: false,
    events: [] as WatchedEvent[],
  };
  while (reader.at < message.length) {
    switch (reader.tag()) {
      case headerField:
        response.revision = readHeader(reader);
        break;
      case uintField(3):
        response.created = reader.flag();
        break;
      case uintField(4):
        response.canceled = reader.flag();
        break;
      case uintField(5):
        response.compactRevision = reader.uint() as Revision;
        break;
      case bytesField(6):
        response.cancelReason = reader.string();
        break;
      case uintField(7):
        response.fragment = reader.flag();
        break;
      case bytesField(11):
        response.events.push(readEvent(reader));
        break;
      default:
        reader.skip();
    }
  }
  return response;
}

const nothing: Entry = {
  key: '',
  value: new Uint8Array(),
  createRevision: 0 as Revision,
  modRevision: 0 as Revision,
  version: 0,
  lease: undefined,
};

function readEvent(reader: MessageReader): WatchedEvent {
  const end = reader.end();
  let deleted = false;
  let entry = nothing;
  let previous: Entry | undefined;
  while (reader.at < end) {
    switch (reader.tag()) {
      case uintField(1):
        deleted = reader.flag();
        break;
      case bytesField(2):
        entry = readEntry(reader);
        break;
      case bytesField(3):
        previous = readEntry(reader);
        break;
      default:
        reader.skip();
    }
  }
  return { deleted, entry, previous };
}
