/** A PKCS #10 certificate request (RFC 2986) with a new key, as somebody makes it who wants to become a user. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { bits, explicit, integer, objectIdentifier, sequence, set, utf8 } from '../../../packages/pki/src/der.ts';

const commonName = '2.5.4.3';
const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

/** Both PEM. */
export function certificateRequest(user: string): { readonly request: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const information = sequence(
    integer(Buffer.from([0])),
    sequence(set(sequence(objectIdentifier(commonName), utf8(user)))),
    publicKey.export({ type: 'spki', format: 'der' }),
    // No attributes.
    explicit(0, Buffer.alloc(0)),
  );
  const signature = bits(sign('sha256', information, privateKey));
  const body = sequence(information, sequence(objectIdentifier(ecdsaWithSha256)), signature).toString('base64');
  return {
    request: `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
