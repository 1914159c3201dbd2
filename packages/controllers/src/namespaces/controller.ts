/**
 * The life cycle of namespaces: one that is being deleted is emptied, then finalized. Waiting costs nothing: the feed delivers deletions.
 * Only objects of aggregated servers, which the feed does not cover, are polled.
 */

import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, RemoteWorld, FleetController } from '../contract.ts';
import { KindMappers } from '../shared/kind-mappers.ts';
import { hasText, isCore } from '../shared/resources.ts';
import { reconcileNamespace } from './reconcile.ts';

/** A namespace that is being deleted. */
interface Terminating {
  /** Number of objects after the last pass. */
  remaining: number;
  /** Consecutive passes with remaining objects. */
  waits: number;
}

/** Combines concurrent deletions into one pass; the delay grows with their number. */
const gatherMs = 20;
const gatherMsMax = 5_000;
const gatherMsPerObject = 0.1;
/** Poll interval for objects of aggregated servers, which the feed does not cover. */
const lookAgainMs = 8_000;
const lookAgainMsMax = 600_000;

export class NamespaceController implements FleetController {
  readonly name = 'namespace';
  readonly concurrency = 128;
  readonly perCluster = 4;
  readonly #world: RemoteWorld;
  readonly #mappers: KindMappers;
  readonly #terminating = new Map<string, Map<string, Terminating>>();

  constructor(world: RemoteWorld) {
    this.#world = world;
    this.#mappers = new KindMappers(world);
  }

  wants(): boolean {
    return true;
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, namespace } = change;
    if (namespace === '') {
      if (isCore(change, 'namespaces')) this.#namespaceChanged(change, ask);
      return;
    }
    if (change.type === 'put' || this.#terminating.size === 0) return;
    const waiting = this.#terminating.get(cluster)?.get(namespace);
    if (!waiting) return;
    const afterMs = Math.min(gatherMsMax, gatherMs + waiting.remaining * gatherMsPerObject);
    ask({ cluster, name: namespace }, { afterMs });
  }

  reset(): void {
    this.#terminating.clear();
  }

  clusterGone(cluster: string): void {
    this.#terminating.delete(cluster);
    this.#mappers.forget(cluster);
  }

  async reconcile({ cluster, name }: Request, { client, signal }: ControllerContext): Promise<Result | void> {
    const { clock } = this.#world;
    const left = await reconcileNamespace({ client, mapper: this.#mappers.of(cluster), clock, signal }, name);
    const known = this.#terminating.get(cluster)?.get(name);
    if (!left) return this.#forget(cluster, name);
    const waits = known?.waits ?? 0;
    if (known) {
      known.remaining = left.remainingCount;
      known.waits++;
    }
    // Half of the estimate, as in kube-controller-manager; then with back-off.
    const firstMs = Math.max(lookAgainMs, (left.estimateSeconds * 1_000) / 2);
    return { requeueAfterMs: Math.min(lookAgainMsMax, firstMs * 2 ** Math.min(waits, 10)) };
  }

  #namespaceChanged({ cluster, name, type, bytes }: Change, ask: Ask): void {
    if (type === 'delete' || !hasText(bytes, '"deletionTimestamp"')) return this.#forget(cluster, name);
    let all = this.#terminating.get(cluster);
    if (!all) this.#terminating.set(cluster, (all = new Map()));
    if (all.has(name)) return;
    all.set(name, { remaining: 0, waits: 0 });
    ask({ cluster, name });
  }

  #forget(cluster: string, name: string): void {
    const all = this.#terminating.get(cluster);
    if (all?.delete(name) && all.size === 0) this.#terminating.delete(cluster);
  }
}
