/**
 * Parses PKCS #10 requests (RFC 2986): subject, names, key, and the proof that the requester has that key. It reads the same parts as Go's
 * x509, which Kubernetes uses; other extensions and attributes are ignored and never copied.
 */

import { createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import {
  asciiOf,
  bytesOfBits,
  elementsOf,
  expected,
  identifierIn,
  onlyPart,
  partsIn,
  tags,
  textOf,
} from './der-reader.ts';
import type { Element } from './der-reader.ts';
import { PkiError } from './errors.ts';

export interface RequestedName {
  /** The last one of several. '' if there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** All attributes that a certificate takes over, in order: identifier and text. Others are left out. */
  readonly attributes: readonly (readonly [identifier: string, text: string])[];
}

export interface RequestedCertificate {
  readonly subject: RequestedName;
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  /** Four bytes or sixteen each. */
  readonly ipAddresses: readonly Buffer[];
  readonly uris: readonly string[];
  readonly publicKey: KeyObject;
  /** The encoded key; DER. */
  readonly spki: Buffer;
}

const begin = '-----BEGIN ';
/** Longer ones are refused before parsing: a large key with many names is far smaller. */
const requestBytesMax = 128 * 1024;
const rsaBitsMin = 1024;

const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAlternativeName = '2.5.29.17';
const commonName = '2.5.4.3';
const organization = '2.5.4.10';

/**
 * Country, organization, unit, locality, province, street, postal code, name, serial number: the attributes that Go writes, in its order.
 */
const taken = ['6', '10', '11', '7', '8', '9', '17', '3', '5'].map((last) => `2.5.4.${last}`);

/** Allowed signature algorithms, and their types of key. Null: the algorithm has its own digest. */
const algorithms: Readonly<Record<string, readonly [type: 'rsa' | 'ec' | 'ed25519', digest: string | null]>> = {
  '1.2.840.113549.1.1.5': ['rsa', 'sha1'],
  '1.2.840.113549.1.1.11': ['rsa', 'sha256'],
  '1.2.840.113549.1.1.12': ['rsa', 'sha384'],
  '1.2.840.113549.1.1.13': ['rsa', 'sha512'],
  '1.2.840.10045.4.1': ['ec', 'sha1'],
  '1.2.840.10045.4.3.2': ['ec', 'sha256'],
  '1.2.840.10045.4.3.3': ['ec', 'sha384'],
  '1.2.840.10045.4.3.4': ['ec', 'sha512'],
  '1.3.101.112': ['ed25519', null],
};

const malformed = (problem: string, cause?: unknown): PkiError =>
  new PkiError(
    'MalformedRequest',
    `the certificate signing request ${problem}`,
    cause === undefined ? undefined : { cause },
  );

/** Parses the first block of a PEM text. Throws `MalformedRequest`, or `InvalidSignature`. */
export function readCertificateRequest(pem: string): RequestedCertificate {
  const [whole, ...behind] = elementsOf(derOf(pem));
  if (behind.length > 0) throw malformed('has trailing data');
  const [info, algorithm, signature, ...more] = partsIn(whole, tags.sequence);
  const [version, name, key, attributes, ...others] = partsIn(info, tags.sequence);
  if (more.length > 0 || others.length > 0) throw malformed('has unexpected elements');
  if (expected(version, tags.integer).content.compare(Buffer.of(0)) !== 0) throw malformed('has an unknown version');
  const publicKey = keyOf(expected(key, tags.sequence));
  const signed = { data: info!.whole, signature: bytesOfBits(signature) };
  checkSignature(identifierIn(partsIn(algorithm, tags.sequence)[0]), publicKey, signed);
  return {
    subject: subjectOf(name),
    ...namesOf(attributes),
    publicKey,
    spki: key!.whole,
  };
}

function derOf(pem: string): Buffer {
  if (pem.length > requestBytesMax) throw malformed('is too long');
  // Two parsers could choose different ones of several blocks.
  if (pem.indexOf(begin) !== pem.lastIndexOf(begin)) throw malformed('contains more than one PEM block');
  const block = /-----BEGIN ([^\n-]+)-----\s([^-]*)\n-----END \1-----/.exec(pem);
  if (block?.[1] !== 'CERTIFICATE REQUEST') throw malformed('is not a PEM block of type CERTIFICATE REQUEST');
  const base64 = block[2]!.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) throw malformed('is not valid base64');
  return Buffer.from(base64, 'base64');
}

function keyOf({ whole }: Element): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: whole, format: 'der', type: 'spki' });
  } catch (error) {
    throw malformed('has an invalid public key', error);
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type !== 'rsa' && type !== 'ec' && type !== 'ed25519')
    throw malformed('has a public key of an unsupported type (supported: RSA, ECDSA, Ed25519)');
  if (type === 'rsa' && (details?.modulusLength ?? 0) < rsaBitsMin)
    throw malformed(`has an RSA key of less than ${rsaBitsMin} bits`);
  return key;
}

interface Signed {
  readonly data: Buffer;
  readonly signature: Buffer;
}

function checkSignature(algorithm: string, key: KeyObject, { data, signature }: Signed): void {
  const [type, digest] = (Object.hasOwn(algorithms, algorithm) ? algorithms[algorithm] : undefined) ?? [];
  if (digest === undefined || type !== key.asymmetricKeyType) {
    throw new PkiError(
      'InvalidSignature',
      'the signature algorithm of the certificate signing request is unknown or does not match its public key',
    );
  }
  let isSigned = false;
  try {
    isSigned = verify(digest, data, key, signature);
  } catch {
    // A signature of another type of key.
  }
  if (!isSigned)
    throw new PkiError(
      'InvalidSignature',
      'the signature of the certificate signing request does not match its public key',
    );
}

/** A name is a list of sets, each of attributes. */
function subjectOf(name: Element | undefined): RequestedName {
  const all = partsIn(name, tags.sequence).flatMap((set) =>
    partsIn(set, tags.set).map((attribute): [string, Element] => {
      const [identifier, value, ...more] = partsIn(attribute, tags.sequence);
      if (!value || more.length > 0) throw malformed('has a malformed attribute in its subject');
      return [identifierIn(identifier), value];
    }),
  );
  const texts = (wanted: string): string[] =>
    all.flatMap(([identifier, value]) => (identifier === wanted ? [textOf(value)] : []));
  const single = new Set([commonName, '2.5.4.5']);
  return {
    commonName: texts(commonName).at(-1) ?? '',
    organizations: texts(organization),
    attributes: taken.flatMap((identifier) =>
      (single.has(identifier) ? texts(identifier).slice(-1) : texts(identifier)).map(
        (text) => [identifier, text] as const,
      ),
    ),
  };
}

type AlternativeNames = Pick<RequestedCertificate, 'dnsNames' | 'emailAddresses' | 'ipAddresses' | 'uris'>;

function namesOf(attributes: Element | undefined): AlternativeNames {
  const names = {
    dnsNames: [] as string[],
    emailAddresses: [] as string[],
    ipAddresses: [] as Buffer[],
    uris: [] as string[],
  };
  for (const name of alternativeNames(attributes)) {
    if (name.tag === 0x81) names.emailAddresses.push(asciiOf(name.content));
    else if (name.tag === 0x82) names.dnsNames.push(asciiOf(name.content));
    else if (name.tag === 0x86) names.uris.push(uriOf(name.content));
    else if (name.tag === 0x87) names.ipAddresses.push(addressOf(name.content));
  }
  return names;
}

function alternativeNames(attributes: Element | undefined): Element[] {
  if (!attributes) return [];
  const seen = new Set<string>();
  const found: Element[] = [];
  for (const attribute of partsIn(attributes, 0xa0)) {
    const [identifier, values] = partsIn(attribute, tags.sequence);
    if (identifierIn(identifier) !== extensionRequest) continue;
    for (const extension of partsIn(onlyPart(values, tags.set), tags.sequence)) {
      const parts = partsIn(extension, tags.sequence);
      const id = identifierIn(parts[0]);
      if (seen.has(id)) throw malformed('requests the same extension twice');
      seen.add(id);
      if (id !== subjectAlternativeName) continue;
      found.push(...partsIn(onlyElement(expected(parts.at(-1), tags.octets).content), tags.sequence));
    }
  }
  return found;
}

function onlyElement(content: Buffer): Element | undefined {
  const [element, ...more] = elementsOf(content);
  return more.length > 0 ? undefined : element;
}

function addressOf(content: Buffer): Buffer {
  if (content.length !== 4 && content.length !== 16) throw malformed('has an IP address of an invalid length');
  return content;
}

function uriOf(content: Buffer): string {
  const text = asciiOf(content);
  if (!URL.canParse(text, 'https://relative.invalid')) throw malformed('has an invalid URI');
  return text;
}
