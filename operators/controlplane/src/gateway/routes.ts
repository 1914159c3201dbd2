/**
 * Caches the routes of all control planes, while the management plane has the Gateway API: one watch of objects with our label. It starts
 * when the definition is created, stops when it is deleted, and restarts when another version is served.
 *
 *     definition comes ──► watch of v1 ──► definition serves v1alpha3 only ──► watch of v1alpha3 ──► definition goes ──► none
 *
 * An event of a route enqueues its control plane; the creation or deletion of the API enqueues all control planes whose class has a
 * Gateway.
 */

import type { Client, Kind } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { aborted, asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { ClusterCache, controllerOf, withoutManagedFields } from '@hangar/runtime';
import type { Informer, RawSource } from '@hangar/runtime';
import { ControlPlaneClass, group, labels } from '../api/index.ts';
import type { ControlPlane } from '../api/index.ts';
import { servedRoute } from './tls-route.ts';
import type { TlsRoute } from './tls-route.ts';

export interface RoutesOptions {
  /** Reads from the management plane, not from a cache. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Control planes of a class. */
  ofClass(name: string): Iterable<string>;
}

interface Following {
  readonly apiVersion: string;
  readonly informer: Informer<TlsRoute>;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

const byOwner = 'routes-of-control-plane';

export class Routes {
  readonly #options: RoutesOptions;
  #following: Following | undefined;
  /** Completion of earlier watches. */
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  /** Returns the cached routes of the control plane: one that is not cached yet enqueues it when it arrives. */
  of({ metadata }: ControlPlane): TlsRoute[] {
    return [...(this.#following?.informer.byIndex(byOwner, metadata.uid!) ?? [])];
  }

  readonly source: RawSource = async ({ cluster, enqueue }, signal) => {
    const tell = (route: TlsRoute): void => {
      const name = ownerOf(route)?.name;
      if (name !== undefined) enqueue({ name });
    };
    const follow = (kind: Kind<TlsRoute> | undefined): void => {
      if (kind?.apiVersion === this.#following?.apiVersion) return;
      this.#end();
      if (kind) this.#begin(kind, tell);
      for (const { metadata, spec } of cluster.cache.informer(ControlPlaneClass).all()) {
        if (!spec?.gateway?.parentRef) continue;
        for (const name of this.#options.ofClass(metadata.name!)) enqueue({ name });
      }
    };
    const registration = cluster.cache.informer(CustomResourceDefinition).addHandler({
      onAdd: (definition) => follow(servedRoute(definition)),
      onUpdate: (_before, definition) => follow(servedRoute(definition)),
      onDelete: () => follow(undefined),
    });
    await aborted(signal);
    registration.remove();
    this.#end();
    await this.#ended;
  };

  #begin(kind: Kind<TlsRoute>, tell: (route: TlsRoute) => void): void {
    const { client, clock, log } = this.#options;
    const cache = new ClusterCache({ client, clock, log });
    const informer = cache.informer(kind, { labelSelector: labels.name, transform: withoutManagedFields });
    cache.addIndex(kind, byOwner, (route) => [ownerOf(route)?.uid ?? '']);
    informer.addHandler({ onAdd: tell, onUpdate: (_before, after) => tell(after), onDelete: tell });
    const ending = new AbortController();
    const ended = cache.start(ending.signal).catch((error: unknown) => {
      log.error('failed to watch TLSRoutes, retrying', { apiVersion: kind.apiVersion, error: asError(error) });
    });
    this.#following = { apiVersion: kind.apiVersion, informer, ending, ended };
  }

  #end(): void {
    const following = this.#following;
    this.#following = undefined;
    following?.ending.abort();
    this.#ended = Promise.all([this.#ended, following?.ended]);
  }
}

function ownerOf(route: TlsRoute): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(route);
  return owner?.kind === 'ControlPlane' && owner.apiVersion.startsWith(`${group}/`) ? owner : undefined;
}
