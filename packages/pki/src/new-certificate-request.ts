/** Creates PKCS #10 requests (RFC 2986) with a new key. */

import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { bits, explicit, implicit, integer, objectIdentifier, octets, sequence, set, utf8 } from './der.ts';
import type { Der } from './der.ts';

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';
const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAlternativeName = '2.5.29.17';
const attribute = (id: string, value: string): Der => sequence(objectIdentifier(id), utf8(value));

export interface NewRequestOptions {
  /** The organizations are in one set with the name. */
  readonly together?: boolean;
  /** Additional attributes of the subject: identifier and text. */
  readonly attributes?: readonly (readonly [string, string])[];
  readonly dnsNames?: readonly string[];
  readonly emailAddresses?: readonly string[];
  /** Four bytes or sixteen. */
  readonly ipAddresses?: readonly Uint8Array[];
  readonly uris?: readonly string[];
  /** Additional requested extensions. */
  readonly extensions?: readonly Der[];
}

/** A new key, and the request that is signed with it. */
export interface KeyAndRequest {
  readonly key: KeyObject;
  /** PEM. */
  readonly pem: string;
}

/** Returns a new key on P-256 and a request for a certificate of it. */
export function newCertificateRequest(
  commonName: string,
  organizations: readonly string[] = [],
  options: NewRequestOptions = {},
): KeyAndRequest {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attributes = [
    ...(commonName === '' ? [] : [attribute('2.5.4.3', commonName)]),
    ...organizations.map((organization) => attribute('2.5.4.10', organization)),
    ...(options.attributes ?? []).map(([id, value]) => attribute(id, value)),
  ];
  const subject = options.together ? sequence(set(...attributes)) : sequence(...attributes.map((one) => set(one)));
  const information = sequence(
    integer(Buffer.from([0])),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(0, extensionsOf(options)),
  );
  return { key: privateKey, pem: requestPem(information, sign('sha256', information, privateKey)) };
}

/** Builds a request with any content and any signature. */
export function requestPem(information: Der, signature: Buffer): string {
  const body = sequence(information, sequence(objectIdentifier(ecdsaWithSha256)), bits(signature)).toString('base64');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
}

function extensionsOf({
  dnsNames = [],
  emailAddresses = [],
  ipAddresses = [],
  uris = [],
  extensions = [],
}: NewRequestOptions): Der {
  const names = [
    ...dnsNames.map((name) => implicit(2, Buffer.from(name))),
    ...emailAddresses.map((name) => implicit(1, Buffer.from(name))),
    ...ipAddresses.map((address) => implicit(7, Buffer.from(address))),
    ...uris.map((uri) => implicit(6, Buffer.from(uri))),
  ];
  const named =
    names.length === 0 ? [] : [sequence(objectIdentifier(subjectAlternativeName), octets(sequence(...names)))];
  const all = [...named, ...extensions];
  return all.length === 0 ? Buffer.alloc(0) : sequence(objectIdentifier(extensionRequest), set(sequence(...all)));
}
