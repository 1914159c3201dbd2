/** Denies creating objects in namespaces that are missing or terminating, and deleting the namespaces that every cluster needs. */

import { forbiddenRequest, notFound, StatusError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { isNamespace } from '../matching/namespace.ts';

const immortal = new Set(['default', 'kube-system', 'kube-public']);
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  async mutate(request) {
    const { operation, resource, namespace, name, subresource } = request;
    if (operation === 'DELETE') {
      if (isNamespace(request) && subresource === '' && immortal.has(name)) {
        throw forbiddenRequest({ group: '', resource: 'namespaces' }, name, 'this namespace may not be deleted');
      }
      if (isNamespace(request)) rememberDeletion(request.plane, name);
      return;
    }
    if (operation !== 'CREATE' || !resource.namespaced || namespace === '' || isReview(request)) return;
    const found = await namespaceOf(request.plane, namespace);
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (found.isTerminating) throw terminating(request);
  },
};

/** A LocalSubjectAccessReview creates nothing in its namespace. */
const isReview = ({ resource }: AdmissionRequest): boolean => resource.name === 'localsubjectaccessreviews';

/** Runs for every creation: an entry in memory suffices to allow it, and the object is decoded only if it may be terminating. */
async function namespaceOf(plane: ControlPlane, name: string): Promise<{ isTerminating: boolean } | undefined> {
  const resource = plane.catalogue.find(namespaces)!;
  const key = objectKey(plane, resource, '', name);
  const known = plane.collections.peek(collectionPrefix(plane, resource, ''))?.get(key);
  if (known && !wasDeletedLately(plane, name) && !mayBeTerminating(known)) return { isTerminating: false };
  const { entry } = await plane.store.get(key);
  if (!entry) return undefined;
  if (!mayBeTerminating(entry)) return { isTerminating: false };
  const { status } = resource.stored.object(entry) as KubeObject & { status?: { phase?: string } };
  return { isTerminating: status?.phase === 'Terminating' };
}

/** Memory may lag behind an acknowledged deletion: after one, lookups read from the store for this long. */
const deletionLastsMs = 30_000;
const deletions = new WeakMap<ControlPlane, Map<string, number>>();

function rememberDeletion(plane: ControlPlane, name: string): void {
  let names = deletions.get(plane);
  if (!names) deletions.set(plane, (names = new Map()));
  const now = plane.clock.monotonicMs();
  for (const [one, untilMs] of names) if (untilMs <= now) names.delete(one);
  names.set(name, now + deletionLastsMs);
}

const wasDeletedLately = (plane: ControlPlane, name: string): boolean =>
  (deletions.get(plane)?.get(name) ?? 0) > plane.clock.monotonicMs();

const mayBeTerminating = ({ value }: Entry): boolean =>
  Buffer.from(value.buffer, value.byteOffset, value.length).includes('"Terminating"');

function terminating({ resource, namespace, object }: AdmissionRequest): StatusError {
  const name = object?.metadata.name ?? '';
  const refused = forbiddenRequest(
    { group: resource.group, resource: resource.name },
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  return new StatusError('Forbidden', refused.message, {
    details: {
      ...refused.status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}
