/**
 * `hangar up` for nodes, and `hangar controller-manager` with the real kube-controller-manager and kube-scheduler for its control planes,
 * which are registered by their class.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configOfKubeconfig, connect } from '@hangar/client';
import { Secret, Service } from '@hangar/client/kinds/core-v1';
import { ControlPlane, ControlPlaneClass, managementNamespace } from '@hangar/controlplane-operator';
import { joinSecretName } from '../../../operators/controlplane/src/join/material.ts';
import { textOf } from '../../../operators/controlplane/src/control-plane/kept-secret.ts';
import { untilReady } from '../../../operators/controlplane/src/testing/until.ts';
import { tool } from '../../../tools/tool.ts';
import type { KeyPair } from '@hangar/pki';
import { Program } from '../../platform/testing/platform.ts';
import { Up } from '../../controlplanes/testing/up.ts';
import { ControllerManager } from '../../controller-manager/testing/manager.ts';
import { imageName } from '../images/images.ts';
import type { NodeNetwork } from '@hangar/cli/machine';
import { shortHeartbeat } from './node-plane.ts';
import type { Heartbeat, NodePlane, NodePlaneOptions } from './node-plane.ts';

const className = 'nodes';
const serviceNetwork = '10.96.0.0/16';
const programs = ['kube-controller-manager', 'kube-scheduler'] as const;

export class HangarForNodes implements AsyncDisposable {
  readonly up: Up;
  readonly #manager: ControllerManager;
  readonly #heartbeat: Heartbeat;

  private constructor(up: Up, manager: ControllerManager, heartbeat: Heartbeat) {
    this.up = up;
    this.#manager = manager;
    this.#heartbeat = heartbeat;
  }

  static async start(network: NodeNetwork, options: NodePlaneOptions = {}): Promise<HangarForNodes> {
    const { heartbeat = shortHeartbeat } = options;
    const [controllers, scheduler] = await Promise.all(programs.map((name) => tool(name, { log: console.log })));
    await using started = new AsyncDisposableStack();
    const up = started.use(await Up.start({ flags: ['--store=memory', `--listen=${network.hostAddress}:0`] }));
    await up.client.create(ControlPlaneClass, {
      metadata: { name: className },
      spec: {
        deletionPolicy: 'Destroy',
        registration: { enabled: true, services: ['controllers', 'scheduler'] },
        nodes: { enabled: true, networks: [...network.networks, serviceNetwork] },
        addons: ['coredns'],
        images: { coredns: imageName('coredns') },
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
    return new HangarForNodes(up, manager, heartbeat);
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
    const { authority } = await this.#post<{ authority: KeyPair }>(`${name}/keys`, {});
    const dnsAddress = await dnsAddressOf(text);
    return {
      name,
      kubeconfig,
      server: textOf(joinSecret, 'endpoint'),
      authority,
      dnsAddress,
      join: {
        bootstrapKubeconfig: textOf(joinSecret, 'discovery.kubeconfig'),
        clientAuthority: textOf(joinSecret, 'ca.crt'),
        configuration: { ...this.#heartbeat.kubelet, clusterDNS: [dnsAddress] },
      },
      kubeProxyKubeconfig: await this.kubeconfigOf(name, 'system:kube-proxy'),
    };
  }

  /** Returns the command that `hangar node join-command` prints. */
  async joinCommand(plane: string): Promise<string> {
    const program = new Program('node', 'join-command', plane, `--data-dir=${this.up.dataFolder}`);
    const { code } = await program.ended();
    if (code !== 0) throw new Error(`hangar node join-command: exit code ${code}\n${program.output.stderr}`);
    return program.output.stdout;
  }

  /** Writes the kubeconfig of a user of a control plane to a file, and returns its path. */
  async kubeconfigOf(plane: string, user: string, groups: readonly string[] = []): Promise<string> {
    const status = await this.#post<{ kubeconfig: string }>(`${plane}/kubeconfig`, { spec: { user, groups } });
    const path = join(this.up.folder, `${plane}-${user.replaceAll(':', '-')}.kubeconfig`);
    await writeFile(path, status.kubeconfig, { mode: 0o600 });
    return path;
  }

  /** Creates a subresource of a tenant; returns its status. */
  async #post<T>(path: string, body: object): Promise<T> {
    const answer = await this.up.client.raw({
      method: 'POST',
      target: `/apis/tenancy.hangar.dev/v1alpha1/tenants/${path}`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    });
    return (JSON.parse((await answer.body()).toString()) as { status: T }).status;
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

/** Returns the tenth address of the service range, as kubeadm does. */
async function dnsAddressOf(kubeconfig: string): Promise<string> {
  const client = connect(await configOfKubeconfig(kubeconfig));
  try {
    const { spec } = await client.get(Service, { namespace: 'default', name: 'kubernetes' });
    return `${spec!.clusterIP}0`;
  } finally {
    await client.close();
  }
}
