/**
 * Reduces a Secret to its metadata and type. External controllers count Secrets and collect them with their owners, but do not use their
 * contents, so the permission to follow tenants does not include reading Secrets.
 */

import { Buffer } from 'node:buffer';
import type { KubeObject } from '@hangar/api';
import type { FedChange, FedResource } from '../contract.ts';

export const isSecret = ({ group, resource }: FedResource): boolean => group === '' && resource === 'secrets';

/**
 * Also omits annotations: `kubectl apply` and similar tools store the whole applied object in them. Throws if the stored value cannot be
 * decoded.
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
    // Not a valid object.
  }
  return { metadata: { namespace, name } };
}
