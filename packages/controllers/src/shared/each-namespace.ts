/**
 * Base of controllers for one object in every active namespace, such as the account `default`. Requests are for namespaces: their name is
 * that of the namespace.
 *
 *     namespace delivered ──▶ active? ─┐
 *     object deleted ──────────────────┼──▶ request ──▶ object exists? ──no──▶ namespace active? ──▶ created
 *     object changed ── if followed ───┘
 *
 * At the start, only namespaces without the object are enqueued: a server that starts with a thousand complete control planes opens none of
 * them. Objects of the base layer are not delivered; `base-objects.ts` checks whether the base layer has the object.
 */

import type { KubeObject } from '@hangar/api';
import { find } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import type { Request } from '@hangar/runtime';
import { rootCluster } from '../contract.ts';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
import { BaseObjects } from './base-objects.ts';
import { ClusterNotes } from './cluster-notes.ts';
import { unlessOvertaken } from './refusals.ts';
import { isCore } from './resources.ts';

interface Told {
  readonly active: Set<string>;
  /** Namespaces that have the object. */
  readonly served: Set<string>;
}

export interface NamespaceObject<T extends ApiObject> {
  readonly kind: Kind<T>;
  readonly name: string;
}

export interface EachNamespaceOptions {
  /** True if the base layer may lack the object. Absent: the first namespaces of control planes have it. */
  readonly looksAtBase?: boolean;
}

export abstract class EachNamespace<T extends ApiObject> implements FleetController {
  abstract readonly name: string;
  readonly #object: NamespaceObject<T>;
  readonly #told = new ClusterNotes<Told>(() => ({ active: new Set(), served: new Set() }));
  readonly #base: BaseObjects | undefined;
  /** Control planes with a running replay: their missing objects prove nothing yet. */
  readonly #coming = new Set<string>();
  #isSynced = false;

  constructor(object: NamespaceObject<T>, { looksAtBase = false }: EachNamespaceOptions = {}) {
    this.#object = object;
    this.#base = looksAtBase ? new BaseObjects() : undefined;
  }

  wants(id: ResourceId): boolean {
    return isCore(id, 'namespaces') || isCore(id, this.#object.kind.plural);
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, type, isInitial } = change;
    if (change.resource === 'namespaces') {
      if (type === 'delete' || !isActive(change.object())) return;
      if (isInitial) this.#told.of(cluster).active.add(change.name);
      else ask({ cluster, name: change.name });
      return;
    }
    if (change.name !== this.#object.name) return;
    this.#base?.changed(cluster, change.namespace);
    if (isInitial && type === 'put') {
      this.#told.of(cluster).served.add(change.namespace);
      this.objectTold(change);
    } else if (type === 'delete' || this.isFollowed) ask({ cluster, name: change.namespace });
  }

  synced(ask: Ask): void {
    this.#isSynced = true;
    for (const [cluster, told] of this.#told.takeAll()) {
      if (!this.#coming.has(cluster)) this.#toldAll(cluster, told, ask);
    }
  }

  clusterComing(cluster: string): void {
    this.#coming.add(cluster);
  }

  clusterChanged(cluster: string, _tenant?: KubeObject, _ask?: Ask): void {
    // Control planes without stored objects are checked too.
    if (this.#base && !this.#isSynced) this.#told.of(cluster);
  }

  clusterTold(cluster: string, ask: Ask): void {
    this.#coming.delete(cluster);
    this.#toldAll(cluster, this.#told.take(cluster), ask);
  }

  reset(): void {
    this.#isSynced = false;
    this.#told.takeAll();
    this.#coming.clear();
    this.#base?.clear();
  }

  clusterGone(cluster: string): void {
    this.#told.take(cluster);
    this.#coming.delete(cluster);
    this.#base?.forget(cluster);
  }

  #toldAll(cluster: string, told: Told | undefined, ask: Ask): void {
    if (told) askForMissing(cluster, told, ask);
    // The management plane has no base layer: all its objects are delivered.
    if (cluster !== rootCluster) this.#base?.told(cluster, told?.served, ask);
  }

  async reconcile(request: Request, context: ControllerContext): Promise<void> {
    try {
      const wasThere = await this.#put(request, context);
      this.#base?.found(request, wasThere);
    } catch (error) {
      this.#base?.failed(request);
      throw error;
    }
  }

  /** Reports whether the base layer contains the object. Undefined: undecided. */
  async #put(request: Request, { client, signal }: ControllerContext): Promise<boolean | undefined> {
    const { cluster, name: namespace } = request;
    const { kind, name } = this.#object;
    const object = await find(client, kind, { namespace, name }, { signal });
    if (object) {
      const revised = await this.revised(object, cluster);
      // A concurrent change is delivered and handled then.
      if (revised) await unlessOvertaken(client.update(kind, revised, { signal }));
      if (!this.#base?.isOpen(request)) return undefined;
      const born = await find(client, Namespace, { name: namespace }, { signal });
      // All objects of the base layer have the same resourceVersion.
      return born?.metadata.resourceVersion === object.metadata.resourceVersion ? true : undefined;
    }
    const owner = await find(client, Namespace, { name: namespace }, { signal });
    if (!owner || !isActive(owner)) return undefined;
    const wanted = await this.wanted(namespace, cluster);
    if (wanted) await unlessOvertaken(client.create(kind, wanted, { signal }));
    return false;
  }

  /** Returns the object to create; undefined: none. */
  protected abstract wanted(namespace: string, cluster: string): Promise<T | undefined> | T;

  /** Reports whether changes of the object are reverted. */
  protected get isFollowed(): boolean {
    return false;
  }

  /** Called for an initial object. */
  protected objectTold(_change: Change): void {}

  /** Returns the corrected object; undefined: it is correct. */
  protected revised(_object: T, _cluster: string): Promise<T | undefined> | undefined {
    return undefined;
  }
}

function askForMissing(cluster: string, { active, served }: Told, ask: Ask): void {
  for (const name of active) if (!served.has(name)) ask({ cluster, name });
}

const isActive = (namespace: ApiObject): boolean =>
  (namespace as { status?: { phase?: string } }).status?.phase === 'Active' &&
  namespace.metadata.deletionTimestamp === undefined;
