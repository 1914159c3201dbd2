/**
 * A Hangar with the real kube-controller-manager and kube-scheduler, whose only node is the process runtime, and the operator of
 * HostedControlPlanes in this process.
 *
 *     await using cluster = await ProcessCluster.start();
 *     await cluster.client.create(HostedControlPlane, …);
 *     await cluster.ready();
 */

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect, loadKubeconfig } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Namespace, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { Logger, systemClock } from '@hangar/core';
import { programsByName, startProcessRuntime, storageClassName } from '@hangar/process-runtime';
import type { ProcessRuntimeOptions } from '@hangar/process-runtime';
import { findCondition } from '@hangar/runtime';
import { openEtcdMaintenance } from '@hangar/store/etcd-maintenance';
import type { MemberStatus } from '@hangar/store/etcd-maintenance';
import { installCrd } from '@hangar/testkit';
import { definitions } from '../../../operators/hosted/src/api/generated/index.ts';
import { HostedControlPlane } from '../../../operators/hosted/src/api/index.ts';
import { hostedOperator } from '../../../operators/hosted/src/operator.ts';
import type { HostedOperatorOptions } from '../../../operators/hosted/src/operator.ts';
import { tool } from '../../../tools/tool.ts';
import { startCluster } from '../../conformance/components/cluster.ts';
import { until } from '../../process-runtime/testing/until.ts';
import { etcdAccess } from './etcd-access.ts';

const run = promisify(execFile);
export const namespace = 'team';
/** Of the HostedControlPlane. */
export const key = { namespace, name: 'demo' };
const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

export interface PreparedCluster {
  readonly client: Client;
  /** Path of the kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** For files that are removed with the cluster. */
  readonly folder: string;
}

/** Options of the operator. */
type OperatorSetting = 'certManager' | 'frontDoor' | 'autoscaling' | 'registry' | 'etcdTimes';

export interface ProcessClusterOptions
  extends Pick<ProcessRuntimeOptions, 'loadBalancerAddresses'>, Pick<HostedOperatorOptions, OperatorSetting> {
  /** Programs of other versions, and other programs, by image. */
  readonly images?: Readonly<Record<string, string>>;
  /** Additional flags for the server. */
  readonly serverArguments?: readonly string[];
  /** Runs before the operator starts. */
  readonly prepare?: (cluster: PreparedCluster) => Promise<AsyncDisposable>;
  /** Whether the operator runs in this process. Defaults to true. */
  readonly runsOperator?: boolean;
}

interface ProcessClusterParts extends Pick<PreparedCluster, 'kubeconfig'> {
  readonly settings: Pick<HostedOperatorOptions, OperatorSetting>;
  readonly runsOperator: boolean;
  /** Of the process runtime. */
  readonly folder: string;
  readonly log: Logger;
  /** Of the log. */
  readonly lines: readonly string[];
}

export class ProcessCluster implements AsyncDisposable {
  readonly client: Client;
  /** Path of the kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** Of the process runtime. */
  readonly #folder: string;
  readonly #log: Logger;
  readonly #settings: Pick<HostedOperatorOptions, OperatorSetting>;
  readonly #lines: readonly string[];
  readonly #opened: AsyncDisposableStack;
  #operator: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined;

  private constructor(
    client: Client,
    { folder, log, lines, settings, runsOperator, kubeconfig }: ProcessClusterParts,
    opened: AsyncDisposableStack,
  ) {
    this.client = client;
    this.kubeconfig = kubeconfig;
    this.#folder = folder;
    this.#log = log;
    this.#settings = settings;
    this.#lines = lines;
    this.#opened = opened;
    if (runsOperator) this.#operator = this.#startOperator();
  }

  static async start(options: ProcessClusterOptions = {}): Promise<ProcessCluster> {
    const { prepare, images = {}, loadBalancerAddresses } = options;
    const { certManager, frontDoor, autoscaling, registry, etcdTimes } = options;
    const { serverArguments = [], runsOperator = true } = options;
    const lines: string[] = [];
    const log = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) });
    const paths = await Promise.all(programs.map(async (name) => [name, await tool(name)] as const));
    await using opened = new AsyncDisposableStack();
    const cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'], serverArguments });
    opened.defer(() => cluster.stop());
    const client = opened.adopt(connect(await loadKubeconfig(cluster.kubeconfig)), (one) => one.close());
    const node = join(cluster.folder, 'node');
    const runtime = await startProcessRuntime({
      client,
      nodeName: 'process-node',
      folder: node,
      images: [programsByName({ ...Object.fromEntries(paths), ...images })],
      claimBinding: 'Immediate',
      taints: [],
      loadBalancerAddresses,
      log,
    });
    opened.defer(() => runtime.close({ pods: 'stop' }));
    const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const body = { metadata: { annotations: isDefault } };
    await client.patch(StorageClass, { name: storageClassName }, { type: 'merge', body });
    for (const definition of definitions) await installCrd(client, definition);
    await client.create(Namespace, { metadata: { name: namespace } });
    const { kubeconfig, folder } = cluster;
    if (prepare) opened.use(await prepare({ client, kubeconfig, folder }));
    opened.defer(() => removePods(client));
    const settings = { certManager, frontDoor, autoscaling, registry, etcdTimes };
    const parts = { folder: node, log, lines, settings, runsOperator, kubeconfig };
    return new ProcessCluster(client, parts, opened.move());
  }

  /** Runs kubectl as the administrator of the HostedControlPlane. Returns its output. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const file = join(this.#folder, 'demo.kubeconfig');
    await writeFile(file, await this.secret('demo-kubeconfig', 'value'), { mode: 0o600 });
    return (await run(await tool('kubectl'), [`--kubeconfig=${file}`, ...args])).stdout;
  }

  /** Stops the operator and starts another one. */
  async restartOperator(): Promise<void> {
    await this.#stopOperator();
    this.#operator = this.#startOperator();
  }

  /** Kills the first container of a pod. */
  async kill(pod: Pod): Promise<void> {
    process.kill(await this.#pid(pod, pod.spec!.containers[0]!.name), 'SIGKILL');
  }

  /** Returns the process ids of the containers of a running pod. */
  pids(pod: Pod): Promise<readonly number[]> {
    return Promise.all(pod.spec!.containers.map(({ name }) => this.#pid(pod, name)));
  }

  /** Resolves when the HostedControlPlane is Ready with its current spec. */
  ready(): Promise<HostedControlPlane> {
    return this.until('the control plane is ready', ({ metadata, status }) => {
      const isCurrent = status?.observedGeneration === metadata.generation;
      return isCurrent && findCondition(status?.conditions, 'Ready')?.status === 'True';
    });
  }

  /** Resolves with the HostedControlPlane when `holds`. A timeout reports the state of all pods. */
  until(what: string, holds: (object: HostedControlPlane) => boolean): Promise<HostedControlPlane> {
    return until(
      what,
      async () => {
        const object = await this.client.get(HostedControlPlane, key);
        return holds(object) && object;
      },
      () => this.#describe(),
    );
  }

  pods(): Promise<readonly Pod[]> {
    return this.client.list(Pod, { namespace }).then(({ items }) => items);
  }

  /** Returns the text under a key of a Secret. */
  async secret(name: string, dataKey: string): Promise<string> {
    const { data } = await this.client.get(Secret, { namespace, name });
    return Buffer.from(data?.[dataKey] ?? '', 'base64').toString();
  }

  /** Reads the state of each etcd member of the HostedControlPlane, in the order of their pods. */
  async etcdStatuses(): Promise<readonly MemberStatus[]> {
    const members = await etcdAccess(this.client, key);
    return Promise.all(
      members.map(({ endpoints, tls }) => {
        const etcd = openEtcdMaintenance({ endpoints, tls });
        return etcd.status().finally(() => etcd.close());
      }),
    );
  }

  /** Removes all old revisions from etcd, as its compaction does from time to time. */
  async compactEtcd(): Promise<void> {
    const [member] = await etcdAccess(this.client, key);
    const etcd = openEtcdMaintenance({ endpoints: member!.endpoints, tls: member!.tls });
    try {
      const { revision } = await etcd.status();
      await etcd.compact(revision);
    } finally {
      etcd.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopOperator();
    await this.#opened.disposeAsync();
  }

  #startOperator(): { readonly ending: AbortController; readonly ended: Promise<void> } {
    const ending = new AbortController();
    const { client: management } = this;
    const operator = hostedOperator({
      management,
      serviceType: 'NodePort',
      reach: 'endpoint',
      ...this.#settings,
      log: this.#log,
    });
    return { ending, ended: operator.run(ending.signal) };
  }

  async #pid({ metadata, status }: Pod, container: string): Promise<number> {
    const folder = join(this.#folder, 'pods', metadata.uid!, 'containers', container);
    const run = status?.containerStatuses?.find(({ name }) => name === container)?.restartCount ?? 0;
    const report = await readFile(join(folder, String(run), 'report'), 'utf8');
    return Number(/^pid (\d+)$/m.exec(report)![1]);
  }

  async #stopOperator(): Promise<void> {
    this.#operator?.ending.abort();
    await this.#operator?.ended;
  }

  async #describe(): Promise<string> {
    const { status } = await this.client.get(HostedControlPlane, key);
    const pods = (await this.pods()).map(({ metadata, status: pod }) =>
      JSON.stringify([metadata.name, pod?.containerStatuses, pod?.conditions]),
    );
    return [JSON.stringify(status, undefined, 1), ...pods, ...this.#lines.slice(-20)].join('\n');
  }
}

/** Ends programs without their grace period: an API server without etcd uses all of it. */
async function removePods(client: Client): Promise<void> {
  for (const kind of [Deployment, StatefulSet]) {
    await client.deleteCollection<ApiObject>(kind, { namespace, propagationPolicy: 'Background' });
  }
  await until('all pods are gone', async () => {
    await client.deleteCollection(Pod, { namespace, gracePeriodSeconds: 1 });
    return (await client.list(Pod, { namespace })).items.length === 0;
  });
}
