/**
 * Issues X.509 certificates (RFC 5280) with Node's own cryptography. A general library takes longer to load than the whole server takes to
 * start, and more memory than a hundred tenants; the certificates issued here always have the same form.
 */

import { createHash, createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock, Random } from '@hangar/core';
import {
  bits,
  boolean,
  contentOf,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octets,
  partsOf,
  sequence,
  set,
  time,
  utf8,
} from './der.ts';
import type { Der } from './der.ts';
import { PkiError } from './errors.ts';

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** Groups in Kubernetes. */
  readonly organizations?: readonly string[];
  /** UID of the user in Kubernetes. */
  readonly uid?: string;
  /** `peer`: server and client, as members of a cluster are. */
  readonly usage: 'server' | 'client' | 'peer';
  /** Names and addresses of a server. */
  readonly hosts?: readonly string[];
  readonly days: number;
}

/** Sources of time and serial numbers. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
}

const dayMs = 86_400_000;
/** Clocks differ: a new certificate is also valid on machines whose clock is behind. */
const backdatedMs = 300_000;

export const identifiers = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  userUid: '1.3.6.1.4.1.57683.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
  clientAuthentication: '1.3.6.1.5.5.7.3.2',
} as const;

const extendedUsages = {
  server: [identifiers.serverAuthentication],
  client: [identifiers.clientAuthentication],
  peer: [identifiers.serverAuthentication, identifiers.clientAuthentication],
} as const;

/** Identifiers of signatures with SHA-256, by the type of the key. RSA has empty parameters (RFC 4055). */
const algorithms: Readonly<Record<string, Der>> = {
  ec: sequence(objectIdentifier(identifiers.ecdsaWithSha256)),
  rsa: sequence(objectIdentifier(identifiers.rsaWithSha256), Buffer.from([0x05, 0x00])),
};

/** Throws `AuthorityUnusable`. */
function algorithmOf({ asymmetricKeyType: type }: KeyObject): Der {
  const algorithm = algorithms[String(type)];
  if (!algorithm) throw new PkiError('AuthorityUnusable', `the key of the CA has type ${type}: use RSA or ECDSA`);
  return algorithm;
}

export function createAuthority(commonName: string, days: number, world: World): KeyPair {
  return signedAtOnce(unsignedAuthority(newKeys(), commonName, days, world));
}

export function issueCertificate(authority: KeyPair, request: CertificateRequest, world: World): KeyPair {
  return signedAtOnce(unsignedCertificate(newKeys(), authority, request, world));
}

/** A certificate that waits for its signature. */
export interface Unsigned {
  readonly body: Der;
  /** Key that signs the body, with SHA-256. */
  readonly issuerKey: KeyObject;
  /** Returns the pair, given the signature of the body. */
  readonly signed: (signature: Buffer) => KeyPair;
}

const signedAtOnce = ({ body, issuerKey, signed }: Unsigned): KeyPair => signed(sign('sha256', body, issuerKey));

export function unsignedAuthority(keys: NewKeys, commonName: string, days: number, world: World): Unsigned {
  const name = nameOf([], commonName);
  const identifier = keyIdentifier(keys.spki);
  const body = certificateBody({
    issuer: { name, key: keys.privateKey },
    subject: name,
    spki: keys.spki,
    ...validFor(days, world),
    extensions: authorityExtensions(identifier),
  });
  return {
    body,
    issuerKey: keys.privateKey,
    signed: (signature) => {
      const pair = { certificate: withSignature(body, signature, keys.privateKey), key: keys.pkcs8 };
      issuers.set(pair, { name, key: keys.privateKey, keyIdentifier: identifier });
      return pair;
    },
  };
}

const authorityExtensions = (identifier: Buffer): Der[] => [
  critical(identifiers.basicConstraints, sequence(boolean(true))),
  // Digital signature, signing of certificates and of revocation lists.
  critical(identifiers.keyUsage, bits(Buffer.from([0b1000_0110]), 1)),
  extension(identifiers.subjectKeyIdentifier, octets(identifier)),
];

/**
 * Returns a certificate of `authority` for the name and the key of another authority. A client that trusts only `authority` accepts the
 * certificates of the other one if they are sent together with it. It expires with the earlier of both.
 */
export function crossCertificate(authority: KeyPair, other: string, { clock, random }: World): string {
  const [issuer, certificate] = [issuerOf(authority), new X509Certificate(other)];
  const extensions = [
    ...authorityExtensions(subjectKeyIdentifier(certificate)),
    extension(identifiers.authorityKeyIdentifier, sequence(implicit(0, issuer.keyIdentifier))),
  ];
  const notAfterMs = Math.min(expiresAt(authority.certificate), expiresAt(other));
  const validity = { notBeforeMs: clock.now() - backdatedMs, notAfterMs };
  const [subject, spki] = [subjectOf(certificate), spkiOf(certificate)];
  return signedCertificate({ issuer, subject, spki, validity, extensions, random });
}

export function unsignedCertificate(
  keys: NewKeys,
  authority: KeyPair,
  request: CertificateRequest,
  world: World,
): Unsigned {
  const issuer = issuerOf(authority);
  const usages = extendedUsages[request.usage].map(objectIdentifier);
  const hosts = request.hosts ?? [];
  const extensions = [
    critical(identifiers.basicConstraints, sequence()),
    critical(identifiers.keyUsage, bits(Buffer.from([0b1000_0000]), 7)),
    extension(identifiers.extendedKeyUsage, sequence(...usages)),
    extension(identifiers.authorityKeyIdentifier, sequence(implicit(0, issuer.keyIdentifier))),
    ...(hosts.length > 0 ? [extension(identifiers.subjectAlternativeName, sequence(...hosts.map(hostName)))] : []),
  ];
  const subject = nameOf(request.organizations ?? [], request.commonName, request.uid);
  const validity = validFor(request.days, world);
  const body = certificateBody({ issuer, subject, spki: keys.spki, ...validity, extensions });
  return {
    body,
    issuerKey: issuer.key,
    signed: (signature) => ({ certificate: withSignature(body, signature, issuer.key), key: keys.pkcs8 }),
  };
}

/** A parsed authority. */
export interface Issuer {
  /** As encoded there: Go compares bytes. */
  readonly name: Der;
  readonly key: KeyObject;
  readonly keyIdentifier: Buffer;
}

/** Cached while the pair is in use: an issuer usually issues several certificates. */
const issuers = new WeakMap<KeyPair, Issuer>();

export function issuerOf(authority: KeyPair): Issuer {
  let issuer = issuers.get(authority);
  if (!issuer) {
    const certificate = new X509Certificate(authority.certificate);
    issuer = {
      name: subjectOf(certificate),
      key: createPrivateKey(authority.key),
      keyIdentifier: subjectKeyIdentifier(certificate),
    };
    issuers.set(authority, issuer);
  }
  return issuer;
}

function validFor(days: number, { clock, random }: World): Pick<CertificateParts, 'validity' | 'random'> {
  const now = clock.now();
  return { validity: { notBeforeMs: now - backdatedMs, notAfterMs: now + days * dayMs }, random };
}

export interface CertificateParts {
  readonly issuer: Pick<Issuer, 'name' | 'key'>;
  readonly subject: Der;
  /** The public key. */
  readonly spki: Der;
  /** Milliseconds since 1970. */
  readonly validity: { readonly notBeforeMs: number; readonly notAfterMs: number };
  readonly extensions: readonly Der[];
  /** Source of serial numbers. */
  readonly random: Random;
}

function certificateBody({ issuer, subject, spki, validity, extensions, random }: CertificateParts): Der {
  return sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber(random)),
    algorithmOf(issuer.key),
    issuer.name,
    sequence(time(validity.notBeforeMs), time(validity.notAfterMs)),
    subject,
    spki,
    explicit(3, sequence(...extensions)),
  );
}

const withSignature = (body: Der, signature: Buffer, issuerKey: KeyObject): string =>
  pem('CERTIFICATE', sequence(body, algorithmOf(issuerKey), bits(signature)));

/** PEM. */
export function signedCertificate(parts: CertificateParts): string {
  const { key } = parts.issuer;
  const body = certificateBody(parts);
  return withSignature(body, sign('sha256', body, key), key);
}

export interface NewKeys {
  /** The public key. */
  readonly spki: Der;
  readonly privateKey: KeyObject;
  /** PEM of the private key. */
  readonly pkcs8: string;
}

/** Encoding around the numbers of every P-256 key. Node's own export of them takes longer than signing. */
const p256Spki = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const p256Pkcs8 = Buffer.from('308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420', 'hex');
const p256Public = Buffer.from('a144034200', 'hex');
const uncompressed = Buffer.of(4);

export const curve = { namedCurve: 'P-256' };

const newKeys = (): NewKeys => keysOf(generateKeyPairSync('ec', curve).privateKey);

/** `privateKey` must be on P-256. */
export function keysOf(privateKey: KeyObject): NewKeys {
  const { d, x, y } = privateKey.export({ format: 'jwk' }) as { d: string; x: string; y: string };
  const point = Buffer.concat([uncompressed, Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return {
    spki: Buffer.concat([p256Spki, point]),
    privateKey,
    pkcs8: pem('PRIVATE KEY', Buffer.concat([p256Pkcs8, Buffer.from(d, 'base64url'), p256Public, point])),
  };
}

/** Returns the PEM of a new P-256 key without a certificate. */
export const newPrivateKey = (): string => newKeys().pkcs8;

/** Returns 127 random bits: positive, and never zero. */
function serialNumber(random: Random): Uint8Array {
  const bytes = Buffer.from(random.bytes(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

const nameOf = (organizations: readonly string[], commonName: string, uid?: string): Der =>
  sequence(
    ...organizations.map((one) => attribute(identifiers.organization, one)),
    attribute(identifiers.commonName, commonName),
    ...(uid === undefined ? [] : [attribute(identifiers.userUid, uid)]),
  );

const attribute = (type: string, value: string): Der => set(attributeValue(type, value));

/** One attribute of a name. */
export const attributeValue = (type: string, value: string): Der => sequence(objectIdentifier(type), utf8(value));

/** Version, serial number, algorithm, issuer and validity precede the subject and the public key. */
const subjectOf = ({ raw }: X509Certificate): Der => partsOf(partsOf(raw)[0]!)[5]!;
const spkiOf = ({ raw }: X509Certificate): Der => partsOf(partsOf(raw)[0]!)[6]!;

/** Returns the identifier in the certificate, which others may compute in another way, or else that of its key. */
function subjectKeyIdentifier(certificate: X509Certificate): Buffer {
  const type = objectIdentifier(identifiers.subjectKeyIdentifier);
  const extensions = partsOf(partsOf(certificate.raw)[0]!).find(([tag]) => tag === 0xa3);
  for (const one of extensions ? partsOf(partsOf(extensions)[0]!) : []) {
    const parts = partsOf(one);
    // An octet string that contains an octet string.
    if (parts[0]!.equals(type)) return contentOf(contentOf(parts.at(-1)!));
  }
  return keyIdentifier(spkiOf(certificate));
}

export const extension = (type: string, value: Der): Der => sequence(objectIdentifier(type), octets(value));
export const critical = (type: string, value: Der): Der =>
  sequence(objectIdentifier(type), boolean(true), octets(value));

/** SHA-1 over the key itself, as is usual: an identifier of the key, not a protection. */
function keyIdentifier(spki: Der): Buffer {
  const bitString = partsOf(spki)[1]!;
  // Without its tag, its length and the number of unused bits.
  return createHash('sha1')
    .update(bitString.subarray(bitString[1]! < 0x80 ? 3 : 3 + (bitString[1]! & 0x7f)))
    .digest();
}

function hostName(host: string): Der {
  const family = isIP(host);
  if (family === 0) return implicit(2, Buffer.from(host, 'latin1'));
  return implicit(7, family === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6Bytes(host));
}

function ipv6Bytes(address: string): Buffer {
  // A URL has the canonical form, in which only `::` is left to expand.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : []);
  const [before, after] = [groups(head), groups(tail)];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

const pem = (label: string, der: Der): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;

/** Milliseconds since 1970. */
export const expiresAt = (certificate: string): number => Date.parse(new X509Certificate(certificate).validTo);
