/** Creates a key for secrets at rest, as kube-apiserver's EncryptionConfiguration: a kube-apiserver with this file reads the same store. */

import type { Random } from '@hangar/core';

const keyBytes = 32;

/** As JSON, which is YAML too, and needs no parser to be loaded. */
export function newEncryptionConfiguration(random: Random): string {
  const secret = Buffer.from(random.bytes(keyBytes)).toString('base64');
  // A unique name per key, so that a value identifies its key.
  const name = `key-${Buffer.from(random.bytes(4)).toString('hex')}`;
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys: [{ name, secret }] } }, { identity: {} }] }],
  };
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}
