/**
 * Issues a certificate for a key that the requester has, as requested (`certificate-requests.ts`), within the limits of its signer. Never a
 * CA. Only the names of the request are taken over, encoded again; none of its extensions are.
 */

import { X509Certificate } from 'node:crypto';
import { attributeValue, critical, extension, identifiers, issuerOf, signedCertificate } from './certificates.ts';
import type { KeyPair, World } from './certificates.ts';
import type { RequestedCertificate } from './certificate-requests.ts';
import { bits, implicit, objectIdentifier, sequence, set } from './der.ts';
import type { Der } from './der.ts';
import { PkiError } from './errors.ts';

export interface SignedRequestOptions {
  readonly request: RequestedCertificate;
  /** Bits of RFC 5280's KeyUsage: 1 is digitalSignature, 256 decipherOnly. 0: the certificate has none. */
  readonly keyUsage: number;
  /** Object identifiers. Empty: the certificate has none. */
  readonly extendedKeyUsage: readonly string[];
  /** Milliseconds since 1970. It expires with its CA, if that is earlier. */
  readonly validity: { readonly notBeforeMs: number; readonly notAfterMs: number };
}

/** Returns PEM. Throws `AuthorityUnusable` if the CA has expired, or its key is not on P-256. */
export function signRequest(authority: KeyPair, options: SignedRequestOptions, world: World): string {
  const { request, validity } = options;
  const issuer = issuerOf(authority);
  // The certificate names this signature algorithm.
  if (issuer.key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new PkiError('AuthorityUnusable', 'the key of the CA is not on curve P-256');
  }
  const authorityEndMs = new X509Certificate(authority.certificate).validToDate.getTime();
  const endsMs = Math.min(validity.notAfterMs, authorityEndMs);
  if (Math.max(world.clock.now(), validity.notBeforeMs) >= authorityEndMs) {
    throw new PkiError(
      'AuthorityUnusable',
      `the certificate of the CA expired at ${new Date(authorityEndMs).toISOString()}`,
    );
  }
  return signedCertificate({
    issuer,
    subject: subjectOf(request),
    spki: request.spki,
    validity: { notBeforeMs: validity.notBeforeMs, notAfterMs: endsMs },
    extensions: extensionsOf(options, issuer.keyIdentifier),
    random: world.random,
  });
}

/** All values of one type in one set, as Go writes names. */
function subjectOf({ subject: { attributes } }: RequestedCertificate): Der {
  const types = new Set(attributes.map(([type]) => type));
  const values = (wanted: string): Der[] =>
    attributes.flatMap(([type, value]) => (type === wanted ? [attributeValue(type, value)] : []));
  // DER requires an order inside a set.
  return sequence(...Array.from(types, (type) => set(...values(type).sort(Buffer.compare))));
}

function extensionsOf(options: SignedRequestOptions, issuerKey: Buffer): Der[] {
  const { request, keyUsage, extendedKeyUsage } = options;
  const purposes = extendedKeyUsage.map((one) => objectIdentifier(one));
  const names = alternativeNames(request);
  // A certificate without a subject is identified only by its other names.
  const naming = request.subject.attributes.length === 0 ? critical : extension;
  return [
    ...(keyUsage === 0 ? [] : [critical(identifiers.keyUsage, usageBits(keyUsage))]),
    ...(purposes.length === 0 ? [] : [extension(identifiers.extendedKeyUsage, sequence(...purposes))]),
    critical(identifiers.basicConstraints, sequence()),
    extension(identifiers.authorityKeyIdentifier, sequence(implicit(0, issuerKey))),
    ...(names.length === 0 ? [] : [naming(identifiers.subjectAlternativeName, sequence(...names))]),
  ];
}

const alternativeNames = ({ dnsNames, emailAddresses, ipAddresses, uris }: RequestedCertificate): Der[] => [
  ...dnsNames.map((name) => implicit(2, Buffer.from(name, 'latin1'))),
  ...emailAddresses.map((name) => implicit(1, Buffer.from(name, 'latin1'))),
  ...ipAddresses.map((address) => implicit(7, address)),
  ...uris.map((uri) => implicit(6, Buffer.from(uri, 'latin1'))),
];

/** Bit 0 is the first of the first byte; zeros at the end are left out, as DER requires for named bits. */
function usageBits(usage: number): Der {
  const count = 32 - Math.clz32(usage);
  const bytes = Buffer.alloc(Math.ceil(count / 8));
  for (let bit = 0; bit < count; bit++) {
    if (usage & (1 << bit)) bytes[bit >> 3]! |= 0x80 >> (bit & 7);
  }
  return bits(bytes, bytes.length * 8 - count);
}
