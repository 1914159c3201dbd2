/** A PKCS #10 request (RFC 2986) with a new key, as somebody makes it who wants to become a user. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { bits, explicit, integer, objectIdentifier, sequence, set, utf8 } from '../der.ts';
import type { Der } from '../der.ts';

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';
const attribute = (id: string, value: string): Der => sequence(objectIdentifier(id), utf8(value));

/** As an object carries it: base64 of PEM. `together`: the organizations are in one set with the name. */
export function certificateRequest(
  commonName: string,
  organizations: readonly string[] = [],
  options: { readonly together?: boolean } = {},
): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attributes = [
    attribute('2.5.4.3', commonName),
    ...organizations.map((organization) => attribute('2.5.4.10', organization)),
  ];
  const subject = options.together ? sequence(set(...attributes)) : sequence(...attributes.map((one) => set(one)));
  const information = sequence(
    integer(Buffer.from([0])),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    // No attributes.
    explicit(0, Buffer.alloc(0)),
  );
  const signature = bits(sign('sha256', information, privateKey));
  const body = sequence(information, sequence(objectIdentifier(ecdsaWithSha256)), signature).toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
  return Buffer.from(pem).toString('base64');
}
