/** Creates the secrets that several servers on one store must share: CAs and the key that signs tokens. */

import { generateKeyPairSync } from 'node:crypto';
import { createAuthority } from '@hangar/pki';
import type { KeyPair, World } from '@hangar/pki';

const authorityDays = 3_650;

/** Base name of its files, and part of its common name. */
export type AuthorityName = 'ca' | 'front-proxy-ca';

export const newAuthority = (name: AuthorityName, world: World): KeyPair =>
  createAuthority(`hangar-${name}`, authorityDays, world);

/** Creates the key that signs the tokens of service accounts, with its public part for verifiers. PEM. */
export function newTokenKey(): { readonly key: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }),
  };
}
