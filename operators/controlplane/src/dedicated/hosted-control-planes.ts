/**
 * Caches the HostedControlPlanes of dedicated control planes, and the templates of their parameters. The watch starts with the first
 * dedicated control plane: a platform without them causes no requests. An event of a HostedControlPlane enqueues its ControlPlane; an event
 * of a template enqueues all dedicated ones.
 */

import { isDeepStrictEqual } from 'node:util';
import { find } from '@hangar/client';
import type { Client, ObjectKey } from '@hangar/client';
import { aborted, asError, hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { controllerOf, findCondition, kindOptions, newCluster, withoutManagedFields } from '@hangar/runtime';
import type { Cluster, RawSource } from '@hangar/runtime';
import { ControlPlane, group, labels } from '../api/index.ts';
import { HostedControlPlane, HostedControlPlaneTemplate, stoppedCondition } from './hosted-control-plane.ts';
import type { HostedControlPlaneObject, HostedTemplateObject } from './hosted-control-plane.ts';
import { templateNamespace } from './settings.ts';

export interface HostedControlPlanesOptions {
  /** Reads from the management plane, not from a cache. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

const readTimeoutMs = 5_000;

export class HostedControlPlanes {
  readonly #options: HostedControlPlanesOptions;
  #following: Cluster | undefined;
  #follow: ((cluster: Cluster) => void) | undefined;

  constructor(options: HostedControlPlanesOptions) {
    this.#options = options;
  }

  /** Reports whether the management plane serves HostedControlPlanes, and starts the watch if so. */
  async isServed(signal: AbortSignal): Promise<boolean> {
    if (this.#following) return true;
    try {
      await this.#options.client.list(HostedControlPlane, { labelSelector: labels.name, limit: 1, signal });
    } catch (error) {
      if (hasCode(error, 'NotFound')) return false;
      throw error;
    }
    this.#begin();
    return true;
  }

  /** From the cache. Called after `isServed`. */
  find(key: ObjectKey, signal: AbortSignal): Promise<HostedControlPlaneObject | undefined> {
    return find(this.#following!.client, HostedControlPlane, key, { signal });
  }

  /** From the cache. Called after `isServed`. */
  template(name: string, signal: AbortSignal): Promise<HostedTemplateObject | undefined> {
    const key = { namespace: templateNamespace, name };
    return find(this.#following!.client, HostedControlPlaneTemplate, key, { signal });
  }

  readonly source: RawSource = async ({ cluster, enqueue }, signal) => {
    const ended: Promise<void>[] = [];
    this.#follow = (hosted) => {
      const tell = (object: HostedControlPlaneObject): void => {
        const owner = controllerOf(object);
        if (owner?.kind === 'ControlPlane' && owner.apiVersion.startsWith(`${group}/`)) enqueue({ name: owner.name });
      };
      const tellAll = (): void => {
        for (const { metadata, spec } of cluster.cache.informer(ControlPlane).all()) {
          if (spec?.mode === 'Dedicated') enqueue({ name: metadata.name! });
        }
      };
      hosted.cache.informer(HostedControlPlane).addHandler({
        onAdd: tell,
        onUpdate: (before, after) => {
          if (!isDeepStrictEqual(relevant(before), relevant(after))) tell(after);
        },
        onDelete: tell,
      });
      hosted.cache
        .informer(HostedControlPlaneTemplate)
        .addHandler({ onAdd: tellAll, onUpdate: tellAll, onDelete: tellAll });
      ended.push(
        hosted.start(signal).catch((error: unknown) => {
          this.#options.log.error('failed to watch HostedControlPlanes', { error: asError(error) });
        }),
      );
    };
    if (this.#following) this.#follow(this.#following);
    await aborted(signal);
    this.#follow = undefined;
    this.#following = undefined;
    await Promise.all(ended);
  };

  #begin(): void {
    if (this.#following) return;
    const { client, clock, log } = this.#options;
    const lean = { transform: withoutManagedFields };
    this.#following = newCluster({
      name: 'hosted',
      client,
      clock,
      log,
      cache: {
        readTimeoutMs,
        defaults: lean,
        byKind: [
          kindOptions(HostedControlPlane, { ...lean, labelSelector: labels.name }),
          kindOptions(HostedControlPlaneTemplate, { ...lean, namespace: templateNamespace }),
        ],
      },
    });
    this.#follow?.(this.#following);
  }
}

/** The fields that a pass depends on: sizes and numbers of pods change often. */
const relevant = ({ metadata, spec, status }: HostedControlPlaneObject) => [
  metadata.uid,
  metadata.deletionTimestamp,
  metadata.annotations,
  metadata.ownerReferences,
  spec,
  status?.initialization,
  ...['Ready', 'Available', 'CertificatesRotating', stoppedCondition].map((type) => {
    const { status: is, reason, message } = findCondition(status?.conditions, type) ?? {};
    return [is, reason, message];
  }),
];
