/** The labels that a webhook's namespaceSelector is asked about. */

import { notFound } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isNamespace, namespaceOf } from '../matching/namespace.ts';

type Labels = Readonly<Record<string, string>>;

const none: Labels = {};
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

/** Undefined: neither a namespace nor in one, so that no selector can exempt it. Rejects with 404. */
export async function namespaceLabels(request: AdmissionRequest): Promise<Labels | undefined> {
  const { plane, operation, subresource, object } = request;
  const isItself = isNamespace(request);
  if (request.namespace === '' && !isItself) return undefined;
  // One that is being written is as it will be; the store has it as it was.
  if (isItself && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return object?.metadata.labels ?? none;
  }
  const resource = plane.catalogue.find(namespaces)!;
  const name = namespaceOf(request);
  const key = objectKey(plane, resource, '', name);
  // Possibly a moment behind, as kube-apiserver's own cache is; what it does not have is looked for.
  const known = plane.collections.peek(collectionPrefix(plane, resource, ''))?.get(key);
  const entry = known ?? (await plane.store.get(key)).entry;
  if (!entry) throw notFound({ group: '', resource: 'namespaces' }, name);
  let labels = labelsOf.get(entry);
  if (!labels) labelsOf.set(entry, (labels = resource.stored.object(entry).metadata.labels ?? none));
  return labels;
}

/** Found once for each version of a namespace. */
const labelsOf = new WeakMap<Entry, Labels>();
