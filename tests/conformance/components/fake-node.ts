/**
 * A Node without a machine. It reports its pods to the API server as a kubelet would: they run and are ready, or have succeeded when they
 * are not to be restarted, and are removed when they were deleted.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, KubeObject } from './api.ts';

const lookEveryMs = 200;
const renewEveryMs = 5_000;

const resources = { cpu: '8', memory: '16Gi', pods: '200', 'ephemeral-storage': '100Gi' };

export class FakeNode implements AsyncDisposable {
  readonly #api: Api;
  readonly #name: string;
  readonly #addresses = new Map<string, string>();
  #isStopped = false;
  #loop: Promise<void> = Promise.resolve();

  private constructor(api: Api, name: string) {
    this.#api = api;
    this.#name = name;
  }

  static async start(api: Api, name: string): Promise<FakeNode> {
    const node = new FakeNode(api, name);
    await api.create('/api/v1/nodes', { metadata: { name, labels: { 'kubernetes.io/hostname': name } } });
    await node.#heartbeat();
    node.#loop = node.#run();
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    let renewedMs = performance.now();
    while (!this.#isStopped) {
      // The server may be unavailable: a kubelet retries, too.
      await this.#lookAfterPods().catch(() => {});
      if (performance.now() - renewedMs > renewEveryMs) {
        await this.#heartbeat().catch(() => {});
        renewedMs = performance.now();
      }
      await sleep(lookEveryMs);
    }
  }

  async #heartbeat(): Promise<void> {
    const now = new Date().toISOString().replace(/\.\d+/, '');
    await this.#api.patch(`/api/v1/nodes/${this.#name}/status`, {
      status: {
        capacity: resources,
        allocatable: resources,
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'KubeletReady',
            message: 'ready',
            lastHeartbeatTime: now,
            lastTransitionTime: now,
          },
        ],
      },
    });
  }

  async #lookAfterPods(): Promise<void> {
    const pods = await this.#api.list(`/api/v1/pods?fieldSelector=spec.nodeName%3D${this.#name}`);
    await Promise.all(pods.map((pod) => this.#lookAfter(pod)));
  }

  async #lookAfter(pod: KubeObject): Promise<void> {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp) {
      await this.#api.remove(path, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
    } else if (pod['status'].phase === 'Pending') {
      await this.#api.patch(`${path}/status`, { status: this.#statusOf(pod) });
    }
  }

  #statusOf(pod: KubeObject): object {
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const isRunning = pod['spec'].restartPolicy === 'Always';
    const state = isRunning
      ? { running: { startedAt: now } }
      : { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } };
    const status = isRunning ? 'True' : 'False';
    const podIP = this.#addressOf(pod.metadata.uid!);
    return {
      phase: isRunning ? 'Running' : 'Succeeded',
      startTime: now,
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: type.endsWith('Ready') ? status : 'True',
        lastTransitionTime: now,
      })),
      containerStatuses: (pod['spec'].containers as readonly { name: string; image: string }[]).map((container) => ({
        name: container.name,
        image: container.image,
        imageID: container.image,
        containerID: `fake://${pod.metadata.uid}/${container.name}`,
        ready: isRunning,
        started: isRunning,
        restartCount: 0,
        state,
      })),
    };
  }

  #addressOf(uid: string): string {
    const known = this.#addresses.get(uid) ?? `10.244.0.${(this.#addresses.size % 250) + 2}`;
    this.#addresses.set(uid, known);
    return known;
  }
}
