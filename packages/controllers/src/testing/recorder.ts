/** A controller that enqueues every ConfigMap in namespace default, and records its calls. */

import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, FleetController } from '../contract.ts';

export class Recorder implements FleetController {
  readonly name = 'recorder';
  readonly concurrency: number = 4;
  declare readonly isHome?: true;
  readonly told: string[] = [];
  readonly reconciled: string[] = [];
  work: (request: Request, context: ControllerContext) => Promise<void> = () => Promise.resolve();

  constructor({ isHome }: { readonly isHome?: true } = {}) {
    if (isHome) this.isHome = isHome;
  }

  wants({ resource }: { resource: string }): boolean {
    return resource === 'configmaps';
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, namespace, name, type } = change;
    if (namespace !== 'default') return;
    this.told.push(`${type} ${cluster}/${name}`);
    ask({ cluster, namespace, name });
  }

  clusterChanged(cluster: string): void {
    this.told.push(`cluster ${cluster}`);
  }

  clusterTold(cluster: string): void {
    this.told.push(`told ${cluster}`);
  }

  reset(): void {
    this.told.push('reset');
  }

  clusterGone(cluster: string): void {
    this.told.push(`gone ${cluster}`);
  }

  async reconcile(request: Request, context: ControllerContext): Promise<void> {
    this.reconciled.push(`${request.cluster}/${request.name}`);
    await this.work(request, context);
  }
}
