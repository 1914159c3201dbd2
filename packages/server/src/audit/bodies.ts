/** Decodes objects of bodies for levels that log them, and reads single fields for those that do not. */

import { decodeProtobuf, isProtobuf, parseYaml } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { isStreaming } from '../http/message.ts';
import type { Answer } from '../http/message.ts';

/** Returns undefined if there is no object. An undecodable body was refused, and the response has the reason. */
export function objectIn(bytes: Uint8Array, contentType: string): unknown {
  if (bytes.length === 0) return undefined;
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
export function dropManagedFields(object: unknown): unknown {
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
