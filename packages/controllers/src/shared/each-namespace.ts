/**
 * A controller for one object in every active namespace, such as the account `default`. Requests are for namespaces: their name is the
 * namespace's.
 *
 *     namespace told ──▶ active? ─┐
 *     object deleted ─────────────┼──▶ request ──▶ object there? ──no──▶ namespace active? ──▶ made
 *     object changed ── if wanted ┘
 *
 * At the beginning only namespaces are asked for that were told without the object: a server that starts with a thousand control
 * planes in order opens none of them.
 */

import { find } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
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

export abstract class EachNamespace<T extends ApiObject> implements FleetController {
  abstract readonly name: string;
  readonly #object: NamespaceObject<T>;
  readonly #told = new ClusterNotes<Told>(() => ({ active: new Set(), served: new Set() }));

  constructor(object: NamespaceObject<T>) {
    this.#object = object;
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
    if (isInitial && type === 'put') {
      this.#told.of(cluster).served.add(change.namespace);
      this.objectTold(change);
    } else if (type === 'delete' || this.isFollowed) ask({ cluster, name: change.namespace });
  }

  synced(ask: Ask): void {
    for (const [cluster, told] of this.#told.takeAll()) askForMissing(cluster, told, ask);
  }

  clusterTold(cluster: string, ask: Ask): void {
    const told = this.#told.take(cluster);
    if (told) askForMissing(cluster, told, ask);
  }

  reset(): void {
    this.#told.takeAll();
  }

  clusterGone(cluster: string): void {
    this.#told.take(cluster);
  }

  async reconcile({ cluster, name: namespace }: Request, { client, signal }: ControllerContext): Promise<void> {
    const { kind, name } = this.#object;
    const object = await find(client, kind, { namespace, name }, { signal });
    if (object) {
      const revised = await this.revised(object, cluster);
      // Who was faster is told of, and looked at then.
      if (revised) await unlessOvertaken(client.update(kind, revised, { signal }));
      return;
    }
    const owner = await find(client, Namespace, { name: namespace }, { signal });
    if (!owner || !isActive(owner)) return;
    const wanted = await this.wanted(namespace, cluster);
    await unlessOvertaken(client.create(kind, wanted, { signal }));
  }

  /** The object as it is made. */
  protected abstract wanted(namespace: string, cluster: string): Promise<T> | T;

  /** Are changes of the object put right? */
  protected get isFollowed(): boolean {
    return false;
  }

  /** It was there at the beginning. */
  protected objectTold(_change: Change): void {}

  /** The object as it should be; undefined: it is. */
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
