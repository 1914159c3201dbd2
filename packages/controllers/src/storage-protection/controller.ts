/**
 * Removes the finalizer of claims, volumes and volume attributes classes that are being deleted and unused. Admission adds a finalizer to
 * each of them, so without this controller neither they nor the namespace of a claim would ever be deleted.
 *
 *     it is being deleted ──▶ is it used? ──no──▶ its finalizer is removed
 *                                  └─yes──▶ kept here; checked again when a possible user changes
 *
 * Only waiting objects are kept in memory.
 */

import { find } from '@hangar/client';
import { dropFinalizer, hasFinalizer, isBeingDeleted } from '@hangar/runtime';
import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
import { hasText } from '../shared/resources.ts';
import { protectedResources } from './uses.ts';

/** Resources whose changes can release an object. */
const users: ReadonlyMap<string, readonly string[]> = new Map([
  ['pods', ['persistentvolumeclaims']],
  ['persistentvolumeclaims', ['volumeattributesclasses']],
  ['persistentvolumes', ['volumeattributesclasses']],
]);

export class StorageProtectionController implements FleetController {
  readonly name = 'storage-protection';
  /** Objects in use at the last check, by name of the request. */
  readonly #waiting = new Map<string, Map<string, Request>>();

  wants({ group, resource }: ResourceId): boolean {
    if (resource === 'volumeattributesclasses') return group === 'storage.k8s.io';
    return group === '' && (resource === 'pods' || protectedResources.has(resource));
  }

  changed(change: Change, ask: Ask): void {
    const { resource, type, bytes } = change;
    if (!change.isInitial) this.#askWaiting(change, ask);
    if (!protectedResources.has(resource)) return;
    const request = requestOf(change);
    if (type === 'delete') this.#settled(request);
    else if (hasText(bytes, '"deletionTimestamp"')) ask(request);
  }

  reset(): void {
    this.#waiting.clear();
  }

  clusterGone(cluster: string): void {
    this.#waiting.delete(cluster);
  }

  async reconcile(request: Request, { client, signal }: ControllerContext): Promise<Result | void> {
    const [resource, name] = request.name.split('/') as [string, string];
    const { kind, finalizer, isUsed } = protectedResources.get(resource)!;
    const key = request.namespace === undefined ? { name } : { namespace: request.namespace, name };
    const object = await find(client, kind, key, { signal });
    if (!object || !isBeingDeleted(object) || !hasFinalizer(object, finalizer)) return this.#settled(request);
    // Added before the check: a concurrent release enqueues it again.
    this.#wait(request);
    if (await isUsed(object, client, signal)) return;
    await dropFinalizer(client, kind, object, finalizer, { signal });
    this.#settled(request);
  }

  #askWaiting({ cluster, namespace, resource }: Change, ask: Ask): void {
    const waiting = this.#waiting.get(cluster);
    const what = waiting && users.get(resource);
    if (!what) return;
    for (const request of waiting.values()) {
      const isOfIt = what.some((one) => request.name.startsWith(`${one}/`));
      if (isOfIt && (request.namespace === undefined || request.namespace === namespace)) ask(request);
    }
  }

  #wait(request: Request): void {
    let waiting = this.#waiting.get(request.cluster);
    if (!waiting) this.#waiting.set(request.cluster, (waiting = new Map()));
    waiting.set(keyOfRequest(request), request);
  }

  #settled(request: Request): void {
    const waiting = this.#waiting.get(request.cluster);
    if (waiting?.delete(keyOfRequest(request)) && waiting.size === 0) this.#waiting.delete(request.cluster);
  }
}

/** Volumes and classes may have the same name: the name of the request includes the resource. */
const requestOf = ({ cluster, namespace, resource, name }: Change): Request => ({
  cluster,
  ...(namespace === '' ? {} : { namespace }),
  name: `${resource}/${name}`,
});

const keyOfRequest = ({ namespace = '', name }: Request): string => `${namespace}/${name}`;
