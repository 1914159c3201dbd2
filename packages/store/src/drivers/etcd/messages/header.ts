/** Header of every etcd answer. Only the store's revision is used. */

import { bytesField, MessageReader, uintField } from '@hangar/http2/grpc';
import type { Revision } from '../../../contract.ts';

/** Field 1 of every answer. */
export const headerField = bytesField(1);

export function readHeader(reader: MessageReader): Revision {
  const end = reader.end();
  let revision = 0;
  while (reader.at < end) {
    if (reader.tag() === uintField(3)) revision = reader.uint();
    else reader.skip();
  }
  return revision as Revision;
}

/** For answers of which nothing else matters. */
export function decodeHeader(message: Buffer): Revision {
  const reader = new MessageReader(message);
  let revision = 0 as Revision;
  while (reader.at < message.length) {
    if (reader.tag() === headerField) revision = readHeader(reader);
    else reader.skip();
  }
  return revision;
}
