/**
 * Packets of the konnectivity protocol (`konnectivity-client/proto/client`). An agent and a server exchange them as the messages of one
 * gRPC call:
 *
 *     server → agent   DIAL_REQ(random=7, address="10.0.0.5:10250")
 *     agent  → server  DIAL_RSP(random=7, connectID=1)          or with an error
 *     both ways        DATA(connectID=1, data)
 *     server → agent   CLOSE_REQ(connectID=1)                   the server closes
 *     agent  → server  CLOSE_RSP(connectID=1)                   the agent has closed, on request or because the target closed
 *     agent  → server  DRAIN                                    the agent terminates soon
 *
 * The protocol has no windows and no half-closed connections.
 */

import { CodedError } from '@hangar/core';
import { bytesField, MessageReader, MessageWriter, uintField } from '@hangar/http2/grpc';

export const packetType = {
  dialRequest: 0,
  dialResponse: 1,
  closeRequest: 2,
  closeResponse: 3,
  data: 4,
  dialClose: 5,
  drain: 6,
} as const;

/** A packet with the fields of all types. Absent fields are 0 or empty, as in protobuf. */
export interface Packet {
  readonly type: number;
  readonly connectId: number;
  readonly random: number;
  readonly error: string;
  /** The address of DIAL_REQ. */
  readonly address: string;
  /** A view of the message. */
  readonly data: Buffer;
}

type Name = 'connectId' | 'random' | 'error' | 'address' | 'data';

/** The field of the packet that holds the payload of a type, and the names of the payload's fields by tag. */
const payloads: Readonly<Record<number, { readonly tag: number; readonly names: Readonly<Record<number, Name>> }>> = {
  [packetType.dialRequest]: { tag: bytesField(2), names: { [bytesField(2)]: 'address', [uintField(3)]: 'random' } },
  [packetType.dialResponse]: {
    tag: bytesField(3),
    names: { [bytesField(1)]: 'error', [uintField(2)]: 'connectId', [uintField(3)]: 'random' },
  },
  [packetType.data]: {
    tag: bytesField(4),
    names: { [uintField(1)]: 'connectId', [bytesField(2)]: 'error', [bytesField(3)]: 'data' },
  },
  [packetType.closeRequest]: { tag: bytesField(5), names: { [uintField(1)]: 'connectId' } },
  [packetType.closeResponse]: { tag: bytesField(6), names: { [bytesField(1)]: 'error', [uintField(2)]: 'connectId' } },
  [packetType.dialClose]: { tag: bytesField(7), names: { [uintField(1)]: 'random' } },
};

/** A hostile peer must not choose the size of messages in logs and answers. */
const textBytesMax = 512;
const nothing: Buffer = Buffer.alloc(0);

const malformed = (message: string): Error => new CodedError('MalformedMessage', message);

/** Decodes a packet. A payload of another type than the packet's is ignored. Throws an error with the code `MalformedMessage`. */
export function decodePacket(message: Buffer): Packet {
  const reader = new MessageReader(message);
  let type = 0;
  let payloadTag = 0;
  let payload = nothing;
  while (reader.at < message.length) {
    const tag = reader.tag();
    if (tag === uintField(1)) type = reader.uint();
    else if ((tag & 7) === 2) {
      payloadTag = tag;
      payload = view(reader);
    } else reader.skip();
  }
  const packet = { type, connectId: 0, random: 0, error: '', address: '', data: nothing };
  const known = payloads[type];
  if (known && known.tag === payloadTag) readPayload(payload, known.names, packet);
  return packet;
}

function readPayload(
  payload: Buffer,
  names: Readonly<Record<number, Name>>,
  to: { -readonly [K in Name]: Packet[K] },
): void {
  const reader = new MessageReader(payload);
  while (reader.at < payload.length) {
    const name = names[reader.tag()];
    if (name === 'data') to.data = view(reader);
    else if (name === 'error' || name === 'address') to[name] = text(reader);
    else if (name) to[name] = identifier(reader);
    else reader.skip();
  }
}

/** Both sides count or draw identifiers from zero up. Larger numbers would lose digits, and negative ones are larger. */
function identifier(reader: MessageReader): number {
  const value = reader.uint();
  if (!Number.isSafeInteger(value)) throw malformed('an identifier is not between 0 and 2^53-1');
  return value;
}

function view(reader: MessageReader): Buffer {
  const end = reader.end();
  const bytes = reader.buffer.subarray(reader.at, end);
  reader.at = end;
  return bytes;
}

/** Returns printable text of a limited length. */
function text(reader: MessageReader): string {
  const bytes = view(reader).subarray(0, textBytesMax);
  return bytes.toString().replaceAll(/[^\x20-\x7e\u00a0-\uffff]/g, ' ');
}

// Encoded packets have the prefix of a gRPC message.

const encoded = (type: number, fields: number, write: (writer: MessageWriter) => void, sizeGuess = 32): Buffer => {
  const writer = new MessageWriter(sizeGuess).message(fields, write);
  return (type === 0 ? writer : writer.uint(1, type)).finishFrame();
};

export const dialRequest = (address: string, random: number): Buffer =>
  encoded(packetType.dialRequest, 2, (writer) => writer.uint(3, random).string(2, address).string(1, 'tcp'), 64);

export const dialResponse = ({ random, connectId = 0, error = '' }: Partial<Packet> & { random: number }): Buffer =>
  encoded(packetType.dialResponse, 3, (writer) => {
    writer.uint(3, random);
    if (connectId !== 0) writer.uint(2, connectId);
    if (error !== '') writer.string(1, error);
  });

/** Bytes around the data of a packet, at most. */
const dataHeadBytes = 32;

export const dataPacket = (connectId: number, data: Uint8Array): Buffer =>
  encoded(packetType.data, 4, (writer) => writer.bytes(3, data).uint(1, connectId), data.length + dataHeadBytes);

export const closeRequest = (connectId: number): Buffer =>
  encoded(packetType.closeRequest, 5, (writer) => writer.uint(1, connectId));

export const closeResponse = (connectId: number, error = ''): Buffer =>
  encoded(packetType.closeResponse, 6, (writer) => {
    writer.uint(2, connectId);
    if (error !== '') writer.string(1, error);
  });

export const dialClose = (random: number): Buffer =>
  encoded(packetType.dialClose, 7, (writer) => writer.uint(1, random));

export const drain = (): Buffer => encoded(packetType.drain, 8, () => {});
