/** A feed that the test controls. */

import type { KubeObject } from '@hangar/api';
import { controllersAnnotation, controllersByAnnotation } from '@hangar/controllers';
import type { FeedListener, FleetFeed } from '@hangar/controllers';
import { aborted } from '@hangar/core';
import { controlPlaneAnnotation } from '../handed-over.ts';

export class ToldFeed implements FleetFeed {
  listener!: FeedListener;
  readonly retold: string[] = [];
  readonly #there = new Set<string>();

  has(cluster: string): boolean {
    return this.#there.has(cluster);
  }

  retell(cluster: string): void {
    this.retold.push(cluster);
  }

  follow(listener: FeedListener, signal: AbortSignal): Promise<void> {
    this.listener = listener;
    return aborted(signal);
  }

  /** Adds the Tenant of the control plane that `registration-NAME` is for, or of the same name as the path. */
  tenant(path: string, by?: string, controlPlane = by?.replace('registration-', '') ?? path): void {
    this.#there.add(path);
    const left = by === undefined ? {} : { [controllersAnnotation]: 'External', [controllersByAnnotation]: by };
    const annotations = { [controlPlaneAnnotation]: controlPlane, ...left };
    // A copy, as from the network: shares nothing.
    const tenant = JSON.parse(JSON.stringify({ metadata: { name: path, annotations } })) as KubeObject;
    this.listener.clusterChanged(path, tenant);
  }

  gone(path: string): void {
    this.#there.delete(path);
    this.listener.clusterGone(path);
  }
}
