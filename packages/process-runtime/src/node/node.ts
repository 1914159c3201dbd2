/** The Node object of the runtime, its status and its Lease. */

import { arch, cpus, platform, release, totalmem } from 'node:os';
import type { Client } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { Node } from '@hangar/client/kinds/core-v1';
import type { NodeCondition, NodeStatus, Taint } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import type { Clock, Logger, Timer } from '@hangar/core';
import { timeText } from '../pods/container-unit.ts';

/** Label and taint of the node: only pods that select and tolerate it are scheduled to it. */
export const runtimeLabel = 'hangar.dev/runtime';
export const runtimeValue = 'process';

export interface NodeOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly name: string;
  readonly address: string;
  readonly externalAddresses?: readonly string[] | undefined;
  /** Absent: the taint `hangar.dev/runtime=process:NoSchedule`. */
  readonly taints?: readonly Taint[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly capacity?: Readonly<Record<string, string>> | undefined;
  /** Port of the kubelet API. Undefined: none. */
  readonly kubeletPort: () => number | undefined;
  readonly version: string;
  /** Times of the kubelet: the Lease is renewed every 10 s and expires after 40 s. */
  readonly leaseSeconds?: number | undefined;
  readonly statusEveryMs?: number | undefined;
}

export const defaultTaints: readonly Taint[] = [{ key: runtimeLabel, value: runtimeValue, effect: 'NoSchedule' }];
const leaseNamespace = 'kube-node-lease';

/** Returns the resources of this machine, and the number of pods. */
export const machineCapacity = (): Record<string, string> => ({
  cpu: String(cpus().length || 1),
  memory: `${Math.floor(totalmem() / 1024)}Ki`,
  pods: '500',
  'ephemeral-storage': '100Gi',
});

export class NodeHeart {
  readonly #options: NodeOptions;
  readonly #capacity: Readonly<Record<string, string>>;
  #timer: Timer | undefined;
  #isClosed = false;
  #statusAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? machineCapacity();
  }

  get capacity(): Readonly<Record<string, string>> {
    return this.#capacity;
  }

  /** Registers the node and begins the heartbeat. Rejects when the first registration fails. */
  async start(): Promise<void> {
    await this.#register();
    await this.#writeStatus(true);
    await this.#renewLease();
    this.#schedule();
  }

  /** With `isShutDown`, marks the node as not ready, so that the control plane does not wait for the Lease to expire. */
  async close({ isShutDown }: { isShutDown: boolean }): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
    if (isShutDown) await this.#writeStatus(false).catch(() => {});
  }

  /** Writes the status soon, because the port of the kubelet API changed. */
  refresh(): void {
    this.#running = this.#running
      .then(() => (this.#isClosed ? undefined : this.#writeStatus(true)))
      .catch(() => (this.#statusAt = Number.NEGATIVE_INFINITY))
      .then(() => {});
  }

  #schedule(): void {
    const { clock, leaseSeconds = 40 } = this.#options;
    this.#timer = clock.after((leaseSeconds * 1_000) / 4, () => {
      this.#running = this.#beat().finally(() => this.#isClosed || this.#schedule());
    });
  }

  async #beat(): Promise<void> {
    const { clock, log, statusEveryMs = 60_000 } = this.#options;
    try {
      await this.#renewLease();
      if (clock.monotonicMs() - this.#statusAt >= statusEveryMs) {
        await this.#register();
        await this.#writeStatus(true);
      }
    } catch (error) {
      log.warn('failed to renew the Lease of the node, retrying', { error: asError(error).message });
      // A deleted node is registered again.
      this.#statusAt = Number.NEGATIVE_INFINITY;
    }
  }

  async #register(): Promise<void> {
    const { client, name, taints = defaultTaints } = this.#options;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': platform(),
      'kubernetes.io/arch': arch() === 'x64' ? 'amd64' : arch(),
      [runtimeLabel]: runtimeValue,
      ...this.#options.labels,
    };
    try {
      await client.create(Node, { metadata: { name, labels }, spec: { taints: [...taints] } });
    } catch (error) {
      if (!hasCode(error, 'AlreadyExists')) throw error;
      await client.patch(Node, { name }, { type: 'merge', body: { metadata: { labels } } });
    }
  }

  async #writeStatus(isReady: boolean): Promise<void> {
    const { client, name, clock } = this.#options;
    const { status: before } = await client.get(Node, { name });
    await client.status.patch(Node, { name }, { type: 'strategic', body: { status: this.#status(before, isReady) } });
    this.#statusAt = clock.monotonicMs();
  }

  #status(before: NodeStatus | undefined, isReady: boolean): NodeStatus {
    const { name, address, externalAddresses = [], kubeletPort, version, clock } = this.#options;
    const now = timeText(new Date(clock.now()));
    const port = kubeletPort();
    const conditions = nodeConditions(isReady).map((condition): NodeCondition => {
      const known = before?.conditions?.find(({ type }) => type === condition.type);
      const since = known?.status === condition.status ? known.lastTransitionTime : undefined;
      return { ...condition, lastHeartbeatTime: now, lastTransitionTime: since ?? now };
    });
    return {
      capacity: { ...this.#capacity },
      allocatable: { ...this.#capacity },
      conditions,
      addresses: [
        { type: 'InternalIP', address },
        ...externalAddresses.map((one) => ({ type: 'ExternalIP', address: one })),
        { type: 'Hostname', address: name },
      ],
      ...(port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: release(),
        osImage: 'Hangar process runtime',
        containerRuntimeVersion: `hangar-process://${version}`,
        kubeletVersion: `v1.36.0-hangar.${version}`,
        kubeProxyVersion: '',
        operatingSystem: platform(),
        architecture: arch() === 'x64' ? 'amd64' : arch(),
      },
    };
  }

  async #renewLease(): Promise<void> {
    const { client, name, clock, leaseSeconds = 40 } = this.#options;
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    const key = { namespace: leaseNamespace, name };
    try {
      await client.patch(Lease, key, { type: 'merge', body: { spec } });
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
      const node = await client.get(Node, { name });
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid! };
      await client.create(Lease, { metadata: { ...key, ownerReferences: [owner] }, spec });
    }
  }
}

type Base = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

const nodeConditions = (isReady: boolean): Base[] => [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
  isReady
    ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the process runtime is posting ready status' }
    : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'the process runtime is stopped' },
];
