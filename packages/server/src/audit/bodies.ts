/** Decodes objects of bodies for levels that log them, and reads single fields for those that do not. */

import { decodeProtobuf, isProtobuf, parseYaml } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { isStreaming } from '../http/message.ts';
import type { Answer } from '../http/message.ts';

/** Larger objects are not decoded: that would block other requests. */
export const decodedBytesMax = 1024 * 1024;
/** Larger objects are not logged. */
const loggedBytesMax = 4 * 1024 * 1024;
const newline = 0x0a;

/**
 * Returns the object as text for the log. JSON is logged as it is if it has no line breaks, unless managedFields must be dropped.
 * Returns undefined if there is no object, and 'TooLarge' if decoding or logging it would take too long.
 */
export function objectText(
  bytes: Uint8Array,
  { contentType, isValid, omitManagedFields }: ObjectTextOptions,
): string | 'TooLarge' | undefined {
  const end = bytes.at(-1) === newline ? bytes.length - 1 : bytes.length;
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const isLine = isValid && !omitManagedFields && contentType.includes('json') && !isProtobuf(bytes);
  if (isLine && end > 0 && end <= loggedBytesMax && !line.includes(newline)) return line.toString();
  if (bytes.length > decodedBytesMax) return 'TooLarge';
  const object = objectIn(bytes, contentType);
  if (object === undefined) return undefined;
  return JSON.stringify(omitManagedFields ? dropManagedFields(object) : object);
}

export interface ObjectTextOptions {
  readonly contentType: string;
  /** The body was decoded before, or was encoded by this server. */
  readonly isValid: boolean;
  readonly omitManagedFields: boolean;
}

/** Returns undefined if there is no object. An undecodable body was refused, and the response has the reason. */
export function objectIn(bytes: Uint8Array, contentType: string): unknown {
  if (bytes.length === 0 || bytes.length > decodedBytesMax) return undefined;
  try {
    if (isProtobuf(bytes)) return decodeProtobuf(bytes);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    return contentType.includes('yaml') ? parseYaml(text).value : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function answeredBytes({ body }: Answer): Uint8Array {
  if (isStreaming(body)) return new Uint8Array();
  return body instanceof Uint8Array ? body : body.length === 1 ? body[0]! : Buffer.concat(body);
}

/** Also for the items of a list. Changes the object. */
function dropManagedFields(object: unknown): unknown {
  const { metadata, items } = (object ?? {}) as { metadata?: JsonObject; items?: unknown };
  if (typeof metadata === 'object' && metadata !== null) delete metadata['managedFields'];
  if (Array.isArray(items)) for (const item of items) dropManagedFields(item);
  return object;
}

const nameBytesMax = 1024;
const namePattern = /^\{(?:"kind":"[^"]*",|"apiVersion":"[^"]*",){0,2}"metadata":\{"name":"([^"\\]+)"/;

/** Returns the name of a created object, which may have been only in its body: read at its known position, without decoding the rest. */
export function answeredName(answer: Answer): string | undefined {
  return namePattern.exec(firstBytes(answer, nameBytesMax).toString('latin1'))?.[1];
}

/** The kind of a response is in its first bytes, in JSON and in protobuf. */
export function mayBeStatus(answer: Answer): boolean {
  if (answer.status >= 400) return !isStreaming(answer.body);
  return firstBytes(answer, 64).includes('Status');
}

/** Returns bytes of the first piece: the rest of a list may be large. */
function firstBytes({ body }: Answer, lengthMax: number): Buffer {
  const first = isStreaming(body) ? undefined : body instanceof Uint8Array ? body : body[0];
  return first ? Buffer.from(first.buffer, first.byteOffset, Math.min(first.byteLength, lengthMax)) : Buffer.alloc(0);
}
