/**
 * `hangar up` for nodes, and `hangar controller-manager` with the real kube-controller-manager and kube-scheduler for its control planes,
 * which are registered by their class.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configOfKubeconfig, connect } from '@hangar/client';
import { ConfigMap, Secret, Service } from '@hangar/client/kinds/core-v1';
import { ControlPlane, ControlPlaneClass, managementNamespace } from '@hangar/controlplane-operator';
import { joinSecretName } from '../../../operators/controlplane/src/join/material.ts';
import { textOf } from '../../../operators/controlplane/src/control-plane/kept-secret.ts';
import { untilReady } from '../../../operators/controlplane/src/testing/until.ts';
import { tool } from '../../../tools/tool.ts';
import { Up } from '../../controlplanes/testing/up.ts';
import { ControllerManager } from '../../controller-manager/testing/manager.ts';
import type { NodeNetwork } from '../machine/network.ts';
import { heartbeat } from './node-plane.ts';
import type { NodePlane } from './node-plane.ts';

const className = 'nodes';
const programs = ['kube-controller-manager', 'kube-scheduler'] as const;

export class HangarForNodes implements AsyncDisposable {
  readonly up: Up;
  readonly #manager: ControllerManager;

  private constructor(up: Up, manager: ControllerManager) {
    this.up = up;
    this.#manager = manager;
  }

  static async start(network: NodeNetwork): Promise<HangarForNodes> {
    const [controllers, scheduler] = await Promise.all(programs.map((name) => tool(name, { log: console.log })));
    await using started = new AsyncDisposableStack();
    const up = started.use(await Up.start({ flags: ['--store=memory', `--listen=${network.hostAddress}:0`] }));
    await up.client.create(ControlPlaneClass, {
      metadata: { name: className },
      spec: {
        deletionPolicy: 'Destroy',
        registration: { enabled: true, services: ['controllers', 'scheduler'] },
        nodes: { enabled: true, networks: network.networks },
      },
    });
    const manager = await ControllerManager.start({
      kubeconfig: join(up.dataFolder, 'admin.kubeconfig'),
      peer: 'nodes',
      workFolder: join(up.folder, 'controller-manager'),
      flags: [
        '--engine=kube',
        '--leader-elect=false',
        `--kube-controller-manager=${controllers}`,
        `--kube-scheduler=${scheduler}`,
        '--kube-api-qps=100',
        '--kube-api-burst=200',
        ...heartbeat.controllerManager,
      ],
    });
    started.move();
    return new HangarForNodes(up, manager);
  }

  /** Creates a control plane that nodes can join. */
  async createPlane(name: string): Promise<NodePlane> {
    const { client, folder } = this.up;
    await client.create(ControlPlane, { metadata: { name }, spec: { classRef: { name: className } } });
    await untilReady(client, name);
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    const text = await this.up.kubeconfig(name);
    await writeFile(kubeconfig, text, { mode: 0o600 });
    const joinSecret = await client.get(Secret, { namespace: managementNamespace(name), name: joinSecretName(name) });
    const { clientAuthority, dnsAddress } = await clusterFacts(text);
    return {
      name,
      kubeconfig,
      dnsAddress,
      join: {
        bootstrapKubeconfig: textOf(joinSecret, 'discovery.kubeconfig'),
        clientAuthority,
        configuration: { ...heartbeat.kubelet, clusterDNS: [dnsAddress] },
      },
      kubeProxyKubeconfig: await this.kubeconfigOf(name, 'system:kube-proxy'),
    };
  }

  /** Writes the kubeconfig of a user of a control plane to a file, and returns its path. */
  async kubeconfigOf(plane: string, user: string, groups: readonly string[] = []): Promise<string> {
    const target = `/apis/tenancy.hangar.dev/v1alpha1/tenants/${plane}/kubeconfig`;
    const answer = await this.up.client.raw({
      method: 'POST',
      target,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: Buffer.from(JSON.stringify({ spec: { user, groups } })),
    });
    const { status } = JSON.parse((await answer.body()).toString()) as { status: { kubeconfig: string } };
    const path = join(this.up.folder, `${plane}-${user.replaceAll(':', '-')}.kubeconfig`);
    await writeFile(path, status.kubeconfig, { mode: 0o600 });
    return path;
  }

  /** Output of all programs, for the report of a failure. */
  get logs(): string {
    return `── hangar up\n${this.up.program.output.stderr}\n── hangar controller-manager\n${this.#manager.log}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager[Symbol.asyncDispose]();
    await this.up[Symbol.asyncDispose]();
  }
}

/** Returns the CA of client certificates, which the kubelet requires of its clients, and the tenth address of the service range. */
async function clusterFacts(kubeconfig: string): Promise<{ clientAuthority: string; dnsAddress: string }> {
  const client = connect(await configOfKubeconfig(kubeconfig));
  try {
    const key = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
    const { data } = await client.get(ConfigMap, key);
    const { spec } = await client.get(Service, { namespace: 'default', name: 'kubernetes' });
    return { clientAuthority: data!['client-ca-file']!, dnsAddress: `${spec!.clusterIP}0` };
  } finally {
    await client.close();
  }
}
