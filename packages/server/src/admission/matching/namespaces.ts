/** Looks up the namespaces of requests, for label selectors and for expressions. */

import { notFound } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Resource } from '../../resources/resource.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isNamespace, namespaceOf } from './namespace.ts';

type Labels = Readonly<Record<string, string>>;

const none: Labels = {};
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

/**
 * Returns the namespace, which must not be changed. Synchronous if it is in memory, which may lag slightly, like the cache of
 * kube-apiserver. Rejects with 404.
 */
export function findNamespace(plane: ControlPlane, name: string): KubeObject | Promise<KubeObject> {
  const resource = plane.catalogue.find(namespaces)!;
  const key = objectKey(plane, resource, '', name);
  const known = plane.collections.peek(collectionPrefix(plane, resource, ''))?.get(key);
  return known ? decoded(resource, known) : read(plane, resource, name);
}

async function read(plane: ControlPlane, resource: Resource, name: string): Promise<KubeObject> {
  const { entry } = await plane.store.get(objectKey(plane, resource, '', name));
  if (!entry) throw notFound({ group: '', resource: 'namespaces' }, name);
  return decoded(resource, entry);
}

/** Decoded once for each version of a namespace. */
const objects = new WeakMap<Entry, KubeObject>();

function decoded(resource: Resource, entry: Entry): KubeObject {
  let object = objects.get(entry);
  if (!object) objects.set(entry, (object = resource.stored.object(entry)));
  return object;
}

/** Returns undefined for requests that are neither for a namespace nor in one: no selector can exempt them. Rejects with 404. */
export function namespaceLabels(
  request: AdmissionRequest,
  plane: ControlPlane = request.plane,
): Labels | undefined | Promise<Labels> {
  const { subresource, object } = request;
  const name = namespaceOf(request);
  if (isNamespace(request)) {
    // A namespace that is being written is matched by its new labels, not by those in the store.
    if (subresource === '' && object) return labelsOf(object);
  } else if (name === '') return undefined;
  const found = findNamespace(plane, name);
  return found instanceof Promise ? found.then(labelsOf) : labelsOf(found);
}

const labelsOf = ({ metadata }: KubeObject): Labels => metadata.labels ?? none;
