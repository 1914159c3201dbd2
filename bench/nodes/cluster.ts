/**
 * One node with a real kubelet that two servers use: it is a member of the real control plane, and a control plane of Hangar has a copy of
 * its Node and of its pods. The servers find the kubelet by these objects, so that streams through both end in the same containers.
 */

import { once } from 'node:events';
import { connect } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import { pinAnnotation } from '../../packages/server/src/nodes/targets.ts';
import { HangarForNodes } from '../../tests/nodes/control-planes/hangar.ts';
import { defaultHeartbeat } from '../../tests/nodes/control-planes/node-plane.ts';
import type { NodePlane } from '../../tests/nodes/control-planes/node-plane.ts';
import { startRealNodePlane } from '../../tests/nodes/control-planes/real.ts';
import { Nodes } from '../../tests/nodes/machine/node.ts';
import { Kubectl } from '../../tests/nodes/testing/kubectl.ts';
import type { Server } from './connection.ts';
import { logWriter, webServer } from './pods.ts';

const nodeName = 'node-a';

export interface Target extends Server {
  readonly name: 'kube-apiserver' | 'hangar';
  readonly kubectl: Kubectl;
  readonly pids: readonly number[];
}

export class SharedKubelet implements AsyncDisposable {
  readonly targets: readonly [Target, Target];
  readonly #opened: AsyncDisposableStack;

  private constructor(targets: readonly [Target, Target], opened: AsyncDisposableStack) {
    this.targets = targets;
    this.#opened = opened;
  }

  /** `bytes`: of the log and of the file that the pods have. */
  static async start(bytes: number): Promise<SharedKubelet> {
    await using opened = new AsyncDisposableStack();
    const nodes = opened.use(await Nodes.create());
    const starting = nodes.start(nodeName, { images: ['pause', 'busybox', 'coredns'] });
    starting.catch(() => {});
    const options = { heartbeat: defaultHeartbeat };
    const hangar = opened.use(await HangarForNodes.start(nodes.network, options));
    const ours = await hangar.createPlane('bench');
    const theirs = opened.use(await startRealNodePlane(nodes.network.hostAddress, options));
    const node = await starting;
    const join = {
      ...theirs.join,
      // Both servers are clients of the kubelet.
      clientAuthority: `${theirs.authority.certificate.trim()}\n${ours.authority.certificate}`,
      // The log of a pod stays one file.
      configuration: { ...theirs.join.configuration, containerLogMaxSize: '4Gi' },
    };
    await node.joinPlane({ ...theirs, join });

    const targets = [
      await targetOf('kube-apiserver', theirs, theirs.serverPid),
      await targetOf('hangar', ours, hangar.up.program.child.pid!),
    ] as const;
    const pods = [logWriter(nodeName, bytes), webServer(nodeName, bytes)];
    const [{ kubectl: real }, { kubectl: copy }] = targets;
    await real.wait('create', `node/${nodeName}`, 'serviceaccount/default');
    await real.apply(...pods);
    await real.wait('condition=Ready', ...pods.map(({ metadata }) => `pod/${metadata.name}`));
    await copyNode(real, copy, await fingerprintOf(node.addresses.address));
    await copy.wait('create', 'serviceaccount/default');
    await copy.apply(...pods);
    // kubectl forwards ports only of pods that run.
    for (const { metadata } of pods) await copyStatus(real, copy, `pod/${metadata.name}`);
    return new SharedKubelet(targets, opened.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

async function targetOf(name: Target['name'], plane: NodePlane, pid: number): Promise<Target> {
  const { server, authority } = plane;
  const request = { commonName: 'admin', organizations: ['system:masters'], usage: 'client', days: 1 } as const;
  const { certificate, key } = issueCertificate(authority, request, { clock: systemClock, random: systemRandom });
  return {
    name,
    url: server,
    tls: { ca: authority.certificate, cert: certificate, key },
    kubectl: await Kubectl.of(plane.kubeconfig),
    pids: [pid],
  };
}

async function fingerprintOf(address: string): Promise<string> {
  const socket = connect({ host: address, port: kubeletPort, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

const kubeletPort = 10_250;

/** The copy cannot verify the certificate of the kubelet by a CA: the Node has its fingerprint. */
async function copyNode(from: Kubectl, to: Kubectl, fingerprint: string): Promise<void> {
  const metadata = { name: nodeName, annotations: { [pinAnnotation]: fingerprint } };
  await to.apply({ apiVersion: 'v1', kind: 'Node', metadata });
  await copyStatus(from, to, `node/${nodeName}`);
}

async function copyStatus(from: Kubectl, to: Kubectl, object: string): Promise<void> {
  const { status } = JSON.parse(await from.run('get', object, '--output=json')) as { status: object };
  const patch = `--patch=${JSON.stringify({ status })}`;
  await to.run('patch', object, '--subresource=status', '--type=merge', patch);
}
