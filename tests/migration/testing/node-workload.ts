/**
 * A control plane with a real node, a controller manager that serves it through its registration, and a Deployment on the node.
 *
 *     const { platform, nodes, workload } = …
 *     await workload.scale(2);                           // on whichever side serves
 *     await platform.migrate('app', 'dedicated');
 *     const facts = await workload.check('dedicated');   // the node and the controllers work on the new side
 */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Node } from '@hangar/cli/machine';
import { managementNamespace } from '@hangar/controlplane-operator';
import { joinSecretName } from '../../../operators/controlplane/src/join/material.ts';
import { tool } from '../../../tools/tool.ts';
import { ControllerManager } from '../../controller-manager/testing/manager.ts';
import { shortHeartbeat } from '../../nodes/control-planes/node-plane.ts';
import { imageName } from '../../nodes/images/images.ts';
import type { Nodes } from '../../nodes/machine/node.ts';
import { Kubectl } from '../../nodes/testing/kubectl.ts';
import { Session } from '../../nodes/testing/session.ts';
import type { HostedPlatform } from './platform.ts';

export type Side = 'dedicated' | 'virtual';

const nodeName = 'node-a';
const peer = 'fleet';
const className = 'workloads';
const deployment = 'web';
const waitMsMax = 120_000;
const pollMs = 200;

export interface WorkloadOptions {
  readonly platform: HostedPlatform;
  readonly nodes: Nodes;
  /** Name of the control plane, which is created. Its kubeconfig is `NAME.kubeconfig` in the folder of the platform. */
  readonly name: string;
}

export class NodeWorkload implements AsyncDisposable {
  readonly kubectl: Kubectl;
  readonly node: Node;
  readonly #options: WorkloadOptions;
  readonly #manager: ControllerManager;

  private constructor(options: WorkloadOptions, manager: ControllerManager, node: Node, kubectl: Kubectl) {
    this.#options = options;
    this.#manager = manager;
    this.node = node;
    this.kubectl = kubectl;
  }

  /** Resolves when the node is ready. */
  static async start(options: WorkloadOptions): Promise<NodeWorkload> {
    const { platform, nodes, name } = options;
    const starting = nodes.start(nodeName, { images: ['pause', 'agnhost'] });
    starting.catch(() => {});
    await platform.create('data/admin.kubeconfig', workloadClass(nodes));
    await using started = new AsyncDisposableStack();
    const manager = started.use(await startManager(platform));
    await platform.hangar('create', name, `--class=${className}`, '-o', `${name}.kubeconfig`);
    const kubectl = await Kubectl.of(join(platform.folder, `${name}.kubeconfig`));
    const node = await starting;
    await node.joinPlane(await membershipOf(platform, name));
    await kubectl.wait('create', `node/${nodeName}`, 'serviceaccount/default');
    await kubectl.wait('condition=Ready', `node/${nodeName}`);
    started.move();
    return new NodeWorkload(options, manager, node, kubectl);
  }

  /** Creates the Deployment. */
  async deploy(replicas: number): Promise<void> {
    await this.kubectl.apply(sleepers(replicas));
    await this.#available(replicas);
  }

  /** Resolves when the Deployment has this number of available pods, and no others. */
  async scale(replicas: number): Promise<void> {
    await this.kubectl.run('scale', `deployment/${deployment}`, `--replicas=${replicas}`);
    await this.#available(replicas);
  }

  /**
   * Asserts that the node and the controllers of the side work after a switch: the heartbeat of the node is newer, the controllers of that
   * side create pods, and logs and exec reach them.
   */
  async check(side: Side): Promise<void> {
    const { platform, name } = this.#options;
    const switchedAt = await platform.management(
      'get',
      `controlplane/${name}`,
      '--output=jsonpath={.status.migration.switchedAt}',
    );
    const switchedMs = Date.parse(switchedAt);
    assert.ok(switchedMs > 0, `status.migration.switchedAt is ${JSON.stringify(switchedAt)}`);
    await until('the Lease of the node is renewed after the switch', async () => {
      const renewed = await this.kubectl.value('{.spec.renewTime}', '-n', 'kube-node-lease', `lease/${nodeName}`);
      return Date.parse(renewed) > switchedMs || `renewed at ${renewed}, switched at ${switchedAt}`;
    });
    await this.kubectl.wait('condition=Ready', `node/${nodeName}`);
    const before = new Set((await this.#pods()).map(({ name: pod }) => pod));
    await this.scale(before.size + 2);
    const created = (await this.#pods()).filter((pod) => !before.has(pod.name));
    const managers = new Set(created.map(({ createdBy }) => createdBy));
    assert.deepEqual([...managers], [managerOf[side]], `pods created after the switch to ${side}`);
    const [{ name: pod }] = created as [Pod];
    assert.equal(await this.kubectl.run('logs', pod), 'started\n');
    assert.equal(await this.kubectl.run('exec', pod, '--', 'hostname'), `${pod}\n`);
    await this.#assertReachesApiServer(pod);
  }

  /** Output of the controller manager, for failed tests. */
  get log(): string {
    return this.#manager.log;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager[Symbol.asyncDispose]();
  }

  /** client-go in the pod uses the address of the Service `kubernetes`, and the CA and the token of the service account. */
  async #assertReachesApiServer(pod: string): Promise<void> {
    const client = '/agnhost inclusterclient --poll-interval=1 2>&1';
    await using session = new Session(this.kubectl.start('exec', pod, '--', 'timeout', '60', 'sh', '-c', client));
    // The second call follows the result of the first one.
    const [output] = await session.until(/calling \/healthz[^]*calling \/healthz/);
    assert.doesNotMatch(output, /status=failed/);
  }

  async #available(replicas: number): Promise<void> {
    await until(`the Deployment has ${replicas} available pods`, async () => {
      const counts = await this.kubectl.value(
        '{.status.availableReplicas} {.status.replicas}',
        `deployment/${deployment}`,
      );
      const pods = await this.#pods();
      return (counts === `${replicas} ${replicas}` && pods.length === replicas) || `${counts}, ${pods.length} pods`;
    });
  }

  async #pods(): Promise<Pod[]> {
    const text = await this.kubectl.run(
      'get',
      'pods',
      `--selector=app=${deployment}`,
      '--output=json',
      '--show-managed-fields',
    );
    const { items } = JSON.parse(text) as { items: readonly PodObject[] };
    return items.map(({ metadata }) => ({
      name: metadata.name,
      createdBy: metadata.managedFields.find(({ subresource }) => subresource === undefined)?.manager ?? '',
    }));
  }
}

interface Pod {
  readonly name: string;
  readonly createdBy: string;
}

interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly managedFields: readonly { readonly manager: string; readonly subresource?: string }[];
  };
}

/** The field managers of the controllers: the start of their user agents. */
const managerOf: Readonly<Record<Side, string>> = {
  dedicated: 'kube-controller-manager',
  virtual: `hangar-controller-manager.${peer}`,
};

async function until(what: string, isSo: () => Promise<true | string>): Promise<void> {
  const deadlineMs = performance.now() + waitMsMax;
  for (;;) {
    const answer = await isSo();
    if (answer === true) return;
    if (performance.now() > deadlineMs) throw new Error(`timeout: ${what}: ${answer}`);
    await delay(pollMs);
  }
}

const workloadClass = ({ network }: Nodes): object => ({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlaneClass',
  metadata: { name: className },
  spec: {
    deletionPolicy: 'Destroy',
    registration: { enabled: true, services: ['controllers', 'scheduler'] },
    nodes: { enabled: true, networks: [...network.networks, '10.96.0.0/16'] },
  },
});

async function startManager(platform: HostedPlatform): Promise<ControllerManager> {
  return ControllerManager.start({
    kubeconfig: join(platform.dataFolder, 'admin.kubeconfig'),
    peer,
    workFolder: join(platform.folder, 'controller-manager'),
    flags: [
      '--engine=kube',
      '--leader-elect=false',
      `--kube-controller-manager=${await tool('kube-controller-manager')}`,
      `--kube-scheduler=${await tool('kube-scheduler')}`,
      '--kube-api-qps=100',
      '--kube-api-burst=200',
    ],
  });
}

async function membershipOf(platform: HostedPlatform, name: string) {
  const secret = await platform.management(
    'get',
    `--namespace=${managementNamespace(name)}`,
    `secret/${joinSecretName(name)}`,
    '--output=json',
  );
  const { data } = JSON.parse(secret) as { data: Readonly<Record<string, string>> };
  const text = (key: string): string => Buffer.from(data[key]!, 'base64').toString();
  return {
    join: {
      bootstrapKubeconfig: text('discovery.kubeconfig'),
      clientAuthority: text('ca.crt'),
      configuration: { ...shortHeartbeat.kubelet },
    },
    kubeProxyKubeconfig: await kubeProxyKubeconfig(platform, name),
  };
}

async function kubeProxyKubeconfig(platform: HostedPlatform, name: string): Promise<string> {
  const request = join(platform.folder, 'kube-proxy.json');
  await writeFile(request, JSON.stringify({ spec: { user: 'system:kube-proxy' } }));
  const target = `/apis/tenancy.hangar.dev/v1alpha1/tenants/${name}/kubeconfig`;
  const answer = await platform.management('create', `--raw=${target}`, `--filename=${request}`);
  const path = join(platform.folder, 'kube-proxy.kubeconfig');
  const { status } = JSON.parse(answer) as { status: { kubeconfig: string } };
  await writeFile(path, status.kubeconfig, { mode: 0o600 });
  return path;
}

/** Pods that print one line and wait. */
const sleepers = (replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name: deployment },
  spec: {
    replicas,
    selector: { matchLabels: { app: deployment } },
    template: {
      metadata: { labels: { app: deployment } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          { name: 'main', image: imageName('agnhost'), command: ['sh', '-c', 'echo started; exec sleep 1000000'] },
        ],
      },
    },
  },
});
