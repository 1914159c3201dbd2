/** A control plane with two nodes for Kubernetes' test program: a tenant of Hangar, or the real control plane. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate, kubeconfig as kubeconfigText } from '@hangar/pki';
import { tool } from '../../../tools/tool.ts';
import { HangarForNodes } from '../../nodes/control-planes/hangar.ts';
import { defaultHeartbeat } from '../../nodes/control-planes/node-plane.ts';
import type { NodePlane } from '../../nodes/control-planes/node-plane.ts';
import { startRealNodePlane } from '../../nodes/control-planes/real.ts';
import { Nodes } from '../../nodes/machine/node.ts';
import { Kubectl } from '../../nodes/testing/kubectl.ts';
import type { NodeSettings } from '../e2e/run-specs.ts';
import { addAliases, conformanceImages, listAliases, writeRegistries } from './images.ts';
import type { PlaneName } from './results.ts';

const nodeNames = ['node-a', 'node-b'] as const;

export class ConformanceCluster implements AsyncDisposable {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** For output files; removed with the cluster. */
  readonly folder: string;
  readonly settings: NodeSettings;
  readonly #opened: AsyncDisposableStack;
  readonly #logs: () => Promise<string>;

  private constructor(options: Started) {
    this.kubeconfig = options.kubeconfig;
    this.folder = options.folder;
    this.settings = { flags: [`--num-nodes=${nodeNames.length}`], env: options.env };
    this.#opened = options.opened;
    this.#logs = options.logs;
  }

  /** Resolves when both nodes and the DNS server are ready. */
  static async start(name: PlaneName, log: (line: string) => void): Promise<ConformanceCluster> {
    // Building it takes minutes, during which the cluster is not needed.
    await tool('e2e', { log });
    await using opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'hangar-conformance-nodes-'));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const env = await writeRegistries(folder);
    const aliases = await listAliases(env);

    const nodes = opened.use(await Nodes.create());
    const starting = Promise.all(nodeNames.map((node) => nodes.start(node, { images: conformanceImages })));
    starting.catch(() => {});
    const { plane, planeLogs } = await startPlane(name, nodes, opened);
    const logs = async (): Promise<string> => `${planeLogs()}\n${await nodes.logs()}`;
    const kubeconfig = await writeAdministrator(plane, folder);
    try {
      for (const node of await starting) {
        await addAliases(node, aliases);
        await node.joinPlane(plane);
      }
      await untilReady(kubeconfig);
    } catch (error) {
      log(await logs());
      throw error;
    }
    return new ConformanceCluster({ kubeconfig, folder, env, logs, opened: opened.move() });
  }

  /** Returns the last lines of the output of all programs, for the report of a failure. */
  logs(): Promise<string> {
    return this.#logs();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

interface Started {
  readonly kubeconfig: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logs: () => Promise<string>;
  readonly opened: AsyncDisposableStack;
}

/** The machine is busy during a run: heartbeats have the default intervals of Kubernetes. */
async function startPlane(
  name: PlaneName,
  { network }: Nodes,
  opened: AsyncDisposableStack,
): Promise<{ plane: NodePlane; planeLogs: () => string }> {
  if (name === 'real') {
    const plane = opened.use(await startRealNodePlane(network.hostAddress, { heartbeat: defaultHeartbeat }));
    return { plane, planeLogs: () => '' };
  }
  const hangar = opened.use(await HangarForNodes.start(network, { heartbeat: defaultHeartbeat }));
  return { plane: await hangar.createPlane('conformance'), planeLogs: () => hangar.logs };
}

/** Writes a kubeconfig for the address that nodes use: kubectl proxy leaves out the path of a server. */
async function writeAdministrator({ name, server, authority }: NodePlane, folder: string): Promise<string> {
  const request = { commonName: 'admin', organizations: ['system:masters'], usage: 'client', days: 2 } as const;
  const credentials = issueCertificate(authority, request, { clock: systemClock, random: systemRandom });
  const path = join(folder, 'kubeconfig');
  const text = kubeconfigText({ name, user: 'admin', server, authority: authority.certificate, credentials });
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

async function untilReady(kubeconfig: string): Promise<void> {
  const kubectl = await Kubectl.of(kubeconfig);
  const nodes = nodeNames.map((name) => `node/${name}`);
  await kubectl.wait('create', ...nodes, 'serviceaccount/default');
  await kubectl.wait('condition=Ready', ...nodes);
  await kubectl.wait('create', 'deployment/coredns', '--namespace=kube-system');
  await kubectl.run('rollout', 'status', 'deployment/coredns', '--namespace=kube-system', '--timeout=110s');
}
