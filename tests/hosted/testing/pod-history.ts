/** Follows the pods of control planes, and reports orders of roll-outs that must not occur. */

import type { Client } from '@hangar/client';
import { Pod } from '@hangar/client/kinds/core-v1';
import { isConditionTrue } from '@hangar/runtime';

const componentOf = ({ metadata }: Pod): string => metadata.labels?.['app.kubernetes.io/component'] ?? '';
const versionOf = ({ spec }: Pod): string => spec!.containers[0]!.image!.split(':').at(-1)!;
const controllers = new Set(['kube-controller-manager', 'kube-scheduler']);

export class PodHistory implements AsyncDisposable {
  readonly #ending = new AbortController();
  /** By uid. Pods that are being deleted receive no connections, and are not in it. */
  readonly #pods = new Map<string, Pod>();
  readonly #ahead: string[] = [];
  /** The uids of pods that were ready once: a probe that fails later is not a disruption by a roll-out. */
  readonly #wasReady = new Set<string>();
  readonly #readyMax = new Map<string, number>();
  readonly #disruptedMax = new Map<string, number>();
  #following: Promise<void> = Promise.resolve();

  /** Follows all changes after its start. */
  static async start(client: Client, namespace: string): Promise<PodHistory> {
    const history = new PodHistory();
    const { resourceVersion } = await client.list(Pod, { namespace });
    history.#following = history.#follow(client, namespace, resourceVersion);
    return history;
  }

  /** Controllers that were created while an API server had another version. */
  controllersAhead(): readonly string[] {
    return this.#ahead;
  }

  /** The largest number of pods of a component that were deleted or not ready yet at the same time, after all of them were ready. */
  disruptedMax(component: string): number {
    return this.#disruptedMax.get(component) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#following;
  }

  async #follow(client: Client, namespace: string, resourceVersion: string): Promise<void> {
    const { signal } = this.#ending;
    try {
      for await (const event of client.watch(Pod, { namespace, resourceVersion, signal })) {
        if (event.type !== 'BOOKMARK') this.#note(event.type, event.object);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #note(type: string, pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    if (type === 'DELETED' || deletionTimestamp !== undefined) this.#pods.delete(uid!);
    else this.#pods.set(uid!, pod);
    if (isConditionTrue(pod.status?.conditions, 'Ready')) this.#wasReady.add(uid!);
    if (type === 'ADDED') this.#compareVersions(pod);
    this.#countDisrupted(componentOf(pod));
  }

  #countDisrupted(component: string): void {
    const present = [...this.#pods].filter(([uid, pod]) => componentOf(pod) === component && this.#wasReady.has(uid));
    const readyMax = Math.max(this.#readyMax.get(component) ?? 0, present.length);
    this.#readyMax.set(component, readyMax);
    this.#disruptedMax.set(component, Math.max(this.disruptedMax(component), readyMax - present.length));
  }

  #compareVersions(pod: Pod): void {
    if (!controllers.has(componentOf(pod))) return;
    const others = [...this.#pods.values()].filter((one) => componentOf(one) === 'kube-apiserver');
    const older = others.filter((one) => versionOf(one) !== versionOf(pod));
    for (const one of older) this.#ahead.push(`${pod.metadata.name} (${versionOf(pod)}): ${one.metadata.name}`);
  }
}
