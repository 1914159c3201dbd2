/** A store that encrypts secrets; writes use the first of the keys. */

import { systemRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Store } from '@hangar/store';
import { EncryptedStore, encryptionOf } from '../encryption/index.ts';

export function sealedStore(store: Store, names: readonly string[], random: Random = systemRandom): Store {
  const keys = names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }));
  const text = JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys } }] }],
  });
  return new EncryptedStore(store, encryptionOf(text, '/registry', random));
}
