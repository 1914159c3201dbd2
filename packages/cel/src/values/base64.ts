/** Base64 with and without padding; anything else in the text is an error, unlike Buffer's silence. */

import { fail } from '../errors.ts';
import { allocate, work } from '../work.ts';

const nsPerCharacter = 5;

export function decodeBase64(text: string): Uint8Array {
  allocate(text.length);
  work(text.length * nsPerCharacter);
  const padding = text.indexOf('=');
  const body = padding === -1 ? text : text.slice(0, padding);
  if (padding !== -1 && (text.length % 4 !== 0 || !/^={1,2}$/.test(text.slice(padding, padding + 3))))
    fail('illegal base64 data');
  if (!/^[A-Za-z0-9+/]*$/.test(body) || body.length % 4 === 1) fail('illegal base64 data');
  return new Uint8Array(Buffer.from(body, 'base64'));
}

export function encodeBase64(bytes: Uint8Array): string {
  allocate(bytes.length * 2);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
