/**
 * Storage encoding of a tenant's keys, in a fifth of the space of PEM in JSON:
 *
 *     1 byte    version of the encoding: 1
 *     for each  2 bytes of length, then DER: CA, its key, front-proxy CA, its key, service account key
 *
 * The size matters because each of thousands of tenants has such an entry.
 */

import { assert } from '@hangar/core';
import type { TenantKeys } from './keys.ts';

const form = 1;

export function encodeKeys({ authority, frontProxyAuthority, serviceAccountKey }: TenantKeys): Buffer {
  const all = [
    authority.certificate,
    authority.key,
    frontProxyAuthority.certificate,
    frontProxyAuthority.key,
    serviceAccountKey,
  ].map(derOf);
  return Buffer.concat([
    Buffer.of(form),
    ...all.flatMap((der) => [Buffer.of(der.length >> 8, der.length & 0xff), der]),
  ]);
}

export function decodeKeys(value: Uint8Array): TenantKeys {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  assert(bytes[0] === form, `keys of a tenant in form ${bytes[0]}`);
  const parts: Buffer[] = [];
  for (let at = 1; at < bytes.length;) {
    const end = at + 2 + bytes.readUInt16BE(at);
    parts.push(bytes.subarray(at + 2, end));
    at = end;
  }
  assert(parts.length === 5, `${parts.length} parts of a tenant's keys`);
  const [authority, authorityKey, frontProxy, frontProxyKey, serviceAccountKey] = parts as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  return {
    authority: { certificate: pemOf('CERTIFICATE', authority), key: pemOf('PRIVATE KEY', authorityKey) },
    frontProxyAuthority: { certificate: pemOf('CERTIFICATE', frontProxy), key: pemOf('PRIVATE KEY', frontProxyKey) },
    serviceAccountKey: pemOf('PRIVATE KEY', serviceAccountKey),
  };
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');

const pemOf = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
