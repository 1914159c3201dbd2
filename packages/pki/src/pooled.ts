/**
 * Makes authorities, certificates and keys on the thread pool of the process, so that the event loop serves others meanwhile.
 *
 *     const authority = await pooled.createAuthority('demo-ca', 10, world);
 *     const { certificate, key } = await pooled.issueCertificate(authority, { commonName: 'admin', usage: 'client', days: 1 }, world);
 *
 * Code under virtual time cannot wait for other threads, and uses the functions of the same names that return at once.
 */

import { generateKeyPair, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { curve, keysOf, unsignedAuthority, unsignedCertificate } from './certificates.ts';
import type { CertificateRequest, KeyPair, NewKeys, Unsigned, World } from './certificates.ts';

const generated = promisify(generateKeyPair);
const signature = promisify(sign) as (algorithm: string, body: Buffer, key: Unsigned['issuerKey']) => Promise<Buffer>;

const newKeys = async (): Promise<NewKeys> => keysOf((await generated('ec', curve)).privateKey);

const signed = async ({ body, issuerKey, signed }: Unsigned): Promise<KeyPair> =>
  signed(await signature('sha256', body, issuerKey));

export const pooled = {
  createAuthority: async (commonName: string, days: number, world: World): Promise<KeyPair> =>
    signed(unsignedAuthority(await newKeys(), commonName, days, world)),

  issueCertificate: async (authority: KeyPair, request: CertificateRequest, world: World): Promise<KeyPair> =>
    signed(unsignedCertificate(await newKeys(), authority, request, world)),

  newPrivateKey: async (): Promise<string> => (await newKeys()).pkcs8,
} as const;
