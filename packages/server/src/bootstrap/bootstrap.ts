/** Creates the initial objects of a control plane that do not exist yet, in one transaction. */

import { isDeepStrictEqual } from 'node:util';
import { builtinGroups } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { absent } from '@hangar/store';
import type { Write } from '@hangar/store';
import { objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { timestamp } from '../verbs/metadata.ts';
import { make } from './make.ts';
import type { Resource } from '../resources/resource.ts';
import { bootstrapObjects, endpointObjects } from './objects.ts';
import type { BootstrapOptions, ServedEndpoint } from './objects.ts';

/** Each failed attempt lost against another replica. */
const attemptsMax = 10;

export async function bootstrap(plane: ControlPlane, options: BootstrapOptions): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const writes: Write[] = [];
    for (const { isOurs, ...declared } of bootstrapObjects(options, timestamp(plane.clock))) {
      const write = await writeFor(plane, declared as unknown as KubeObject, isOurs ?? false);
      if (write) writes.push(write);
    }
    if (writes.length === 0 || (await plane.store.commit(writes)).committed) {
      // Loaded to compare it with the store, then released: an idle server does not need it.
      await (await import('./policy/reconcile.ts')).ensurePolicy(plane);
      return (await import('./ensure-flow-control.ts')).ensureFlowControl(plane);
    }
  }
  throw new Error('failed to write the default objects of the control plane');
}

/** Creates or updates the service `kubernetes` and its endpoints. Resolves with false after a concurrent change. */
export async function ensureEndpoint(plane: ControlPlane, endpoint: ServedEndpoint): Promise<boolean> {
  const writes: Write[] = [];
  for (const { isOurs: _, ...declared } of endpointObjects(endpoint)) {
    const write = await writeFor(plane, declared as unknown as KubeObject, true);
    if (write) writes.push(write);
  }
  return writes.length === 0 || (await plane.store.commit(writes)).committed;
}

/** Returns undefined if the object is up to date. Objects of the server are updated; all others belong to users. */
async function writeFor(plane: ControlPlane, declared: KubeObject, isOurs: boolean): Promise<Write | undefined> {
  const resource = resourceOf(plane, declared.apiVersion, declared.kind);
  const { name = '', namespace = '' } = declared.metadata;
  const key = objectKey(plane, resource, namespace, name);
  const { entry } = await plane.store.get(key);
  const object = make(plane, resource, declared);
  if (!entry) return { type: 'put', key, value: resource.stored.encode(object), expected: absent };
  if (!isOurs) return undefined;
  const live = resource.stored.object(entry);
  const { kind: _, apiVersion: __, metadata: ___, ...content } = object;
  const wanted = { ...live, ...content };
  if (isDeepStrictEqual(wanted, live)) return undefined;
  return { type: 'put', key, value: resource.stored.encode(wanted), expected: entry.modRevision };
}

function resourceOf(plane: ControlPlane, apiVersion: string, kind: string): Resource {
  for (const { name: group, versions } of builtinGroups()) {
    for (const { name: version, resources } of versions) {
      if ((group === '' ? version : `${group}/${version}`) !== apiVersion) continue;
      const found = resources.find((one) => one.kind === kind && one.storage);
      if (found) return plane.catalogue.find({ group, version, resource: found.name })!;
    }
  }
  throw new Error(`no built-in ${kind} in ${apiVersion}`);
}
