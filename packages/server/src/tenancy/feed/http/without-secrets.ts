/**
 * A Secret as it is told to others: its metadata and type. Whoever serves the fleet from outside counts Secrets and collects them with
 * their owners; nobody there needs to know what is in them, so the right to follow tenants is no right to read their secrets.
 */

import { Buffer } from 'node:buffer';
import type { KubeObject } from '@hangar/api';
import type { FedChange, FedResource } from '../contract.ts';

export const isSecret = ({ group, resource }: FedResource): boolean => group === '' && resource === 'secrets';

/**
 * Annotations are left out, too: `kubectl apply` and its like keep the whole of what they applied in them. Throws when what is stored
 * cannot be decoded.
 */
export function withoutSecrets(change: FedChange): Uint8Array {
  const { apiVersion, kind, metadata, type } = objectOf(change);
  const { annotations: _annotations, managedFields: _managedFields, ...rest } = metadata;
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: rest, type }));
}

function objectOf({ bytes, namespace, name }: FedChange): Partial<KubeObject> & Pick<KubeObject, 'metadata'> {
  try {
    const object = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as KubeObject;
    if (typeof object.metadata === 'object' && object.metadata !== null) return object;
  } catch {
    // Nobody can say what it is.
  }
  return { metadata: { namespace, name } };
}
