/**
 * A certificate authority for tests: an own root, and certificates for loopback that it signs. Just enough of X.509
 * (RFC 5280) in DER to satisfy Go's and OpenSSL's verification; not for production.
 */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

export class TestAuthority {
  readonly #name: string;
  readonly #key: KeyObject;
  /** The root's own certificate, PEM. */
  readonly cert: string;

  constructor(name = 'test authority') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#name = name;
    this.#key = privateKey;
    const extensions = [
      extension('551d13', sequence(boolean(true)), true), // basic constraints: an authority
      extension('551d0f', bitString(Buffer.from([0x06]), 1), true), // key usage: sign certificates and lists
    ];
    this.cert = this.#sign(name, publicKey, extensions);
  }

  /** For a server on loopback, and for a client: `commonName` is the user that etcd takes it for. */
  issue(commonName: string): Certificate {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const names = sequence(
      tagged(0x82, Buffer.from('localhost')),
      tagged(0x87, Buffer.from([127, 0, 0, 1])),
      tagged(0x87, Buffer.from('00000000000000000000000000000001', 'hex')),
    );
    const purposes = sequence(objectId('2b06010505070301'), objectId('2b06010505070302')); // server, client
    const extensions = [extension('551d11', names), extension('551d25', purposes)];
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    return { cert: this.#sign(commonName, publicKey, extensions), key };
  }

  #sign(subject: string, publicKey: KeyObject, extensions: Buffer[]): string {
    const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
    const hourMs = 3_600_000;
    const body = sequence(
      tagged(0xa0, tagged(0x02, Buffer.from([2]))), // version 3
      tagged(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
      ecdsaWithSha256,
      nameOf(this.#name),
      sequence(time(Date.now() - hourMs), time(Date.now() + 24 * hourMs)),
      nameOf(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions)),
    );
    const signature = sign('sha256', body, this.#key);
    const der = sequence(body, ecdsaWithSha256, bitString(signature));
    const lines = der.toString('base64').match(/.{1,64}/g)!;
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  }
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const header =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length];
  return Buffer.concat([Buffer.from(header), content]);
}

function sequence(...items: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(items));
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function bitString(content: Buffer, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), content]));
}

function nameOf(commonName: string): Buffer {
  const attribute = sequence(objectId('550403'), tagged(0x0c, Buffer.from(commonName)));
  return sequence(tagged(0x31, attribute));
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, ''); // 20260101000000Z
  return tagged(0x18, Buffer.from(text));
}

function extension(id: string, content: Buffer, critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), tagged(0x04, content));
}
