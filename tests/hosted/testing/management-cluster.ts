/**
 * A management cluster with a real node: a control plane of Hangar, the real kube-controller-manager and kube-scheduler, a kubelet with
 * containerd, and the operator of HostedControlPlanes in this process.
 *
 *     await using cluster = await ManagementCluster.start({ versions: ['v1.36.4'] });
 *     await cluster.client.create(HostedControlPlane, …);
 *     await cluster.kill(pod);                              // its pod restarts it
 */

import { loadKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Namespace, Node as NodeKind } from '@hangar/client/kinds/core-v1';
import type { ContainerStatus, Pod } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { socket, until } from '@hangar/cli/machine';
import type { Node } from '@hangar/cli/machine';
import { installCrd } from '@hangar/testkit';
import { definitions } from '../../../operators/hosted/src/api/generated/index.ts';
import { hostedOperator } from '../../../operators/hosted/src/operator.ts';
import { tool } from '../../../tools/tool.ts';
import { addAliases } from '../../conformance/nodes/images.ts';
import { HangarForNodes } from '../../nodes/control-planes/hangar.ts';
import { Nodes } from '../../nodes/machine/node.ts';
import { withLogs } from '../../nodes/testing/report.ts';
import { componentImages } from './component-images.ts';
import { createLocalVolumes } from './local-volumes.ts';

/** Namespace of the HostedControlPlanes. */
export const namespace = 'team';
const etcdMembers = 3;

export class ManagementCluster implements AsyncDisposable {
  readonly client: Client;
  readonly nodes: Nodes;
  readonly #node: Node;
  readonly #hangar: HangarForNodes;
  readonly #lines: readonly string[];
  readonly #opened: AsyncDisposableStack;

  private constructor(
    parts: Pick<ManagementCluster, 'client' | 'nodes'> & { node: Node; hangar: HangarForNodes; lines: string[] },
    opened: AsyncDisposableStack,
  ) {
    this.client = parts.client;
    this.nodes = parts.nodes;
    this.#node = parts.node;
    this.#hangar = parts.hangar;
    this.#lines = parts.lines;
    this.#opened = opened;
  }

  /** `versions`: of Kubernetes, whose images the node has. */
  static async start({ versions }: { readonly versions: readonly string[] }): Promise<ManagementCluster> {
    await using opened = new AsyncDisposableStack();
    const nodes = opened.use(await Nodes.create());
    const { images, aliases } = componentImages(versions);
    const starting = nodes.start('node-a', { images: ['pause', 'coredns', ...images] });
    starting.catch(() => {});
    const hangar = opened.use(await HangarForNodes.start(nodes.network));
    return await withLogs(
      async () => `${hangar.logs}\n${await nodes.logs()}`,
      async () => {
        const plane = await hangar.createPlane('management');
        const node = await starting;
        await node.joinPlane(plane);
        await addAliases(node, aliases);
        const client = opened.adopt(connect(await loadKubeconfig(plane.kubeconfig)), (one) => one.close());
        for (const definition of definitions) await installCrd(client, definition);
        await client.create(Namespace, { metadata: { name: namespace } });
        await createLocalVolumes(client, node, etcdMembers);
        // The address of the node becomes the published endpoint.
        await until('the node is registered', {}, async () => {
          const { status } = await client.get(NodeKind, { name: node.name });
          return (status?.addresses?.length ?? 0) > 0;
        });
        const lines = runOperator(client, opened);
        return new ManagementCluster({ client, nodes, node, hangar, lines }, opened.move());
      },
    );
  }

  /** Kills the process of the component in a pod with SIGKILL. */
  async kill(pod: Pod): Promise<void> {
    const id = componentStatus(pod)!.containerID!.replace('containerd://', '');
    const kill = ['--namespace=k8s.io', 'tasks', 'kill', '--signal=SIGKILL', id];
    await this.#node.run(await tool('ctr'), `--address=${socket}`, ...kill);
  }

  /** Output of all programs, for the report of a failure. */
  async logs(): Promise<string> {
    return [this.#hangar.logs, await this.nodes.logs(), '── operator', ...this.#lines.slice(-40)].join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

/** Returns the status of the container that has the name of the component. */
export function componentStatus({ metadata, status }: Pod): ContainerStatus | undefined {
  const component = metadata.labels?.['app.kubernetes.io/component'];
  return status?.containerStatuses?.find(({ name }) => name === component);
}

/** Runs the operator until the stack is disposed. Returns the lines of its log. */
function runOperator(management: Client, opened: AsyncDisposableStack): string[] {
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) });
  const ending = new AbortController();
  const operator = hostedOperator({ management, serviceType: 'NodePort', reach: 'endpoint', log });
  const running = operator.run(ending.signal).catch((error: unknown) => lines.push(String(error)));
  opened.defer(async () => {
    ending.abort();
    await running;
  });
  return lines;
}
