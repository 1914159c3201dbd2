/** The real kube-apiserver on a real etcd, the reference of every conformance test. */

import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { careless, etcdArguments, etcdUrl, kubernetesArguments, writeCredentials } from '@hangar/api/testing';
import { tool } from '../../../tools/tool.ts';
import { describeControlPlane, isReady } from './control-plane.ts';
import type { RestartableControlPlane } from './control-plane.ts';
import { freePorts } from '../../../tools/free-ports.ts';
import { Processes } from './processes.ts';

/** User of the kubeconfig; only visible in `auth whoami` and similar commands. */
export interface RealOptions {
  readonly user?: string;
  readonly extraArguments?: readonly string[];
}

/**
 * Admission that the tests disable: accounts, which a controller would have to create, and declarations of nodes, which Hangar does not
 * require.
 */
const disabledAdmission = ['ServiceAccount', 'NodeDeclaredFeatureValidator'];

export interface RealControlPlane extends RestartableControlPlane {
  readonly etcdUrl: string;
}

export function startReal(options: RealOptions = {}): Promise<RealControlPlane> {
  return Processes.start('real', async (processes) => {
    const { folder } = processes;
    const [clientPort, peerPort, port] = await freePorts(3);
    const place = { folder, clientPort: clientPort!, peerPort: peerPort! };
    processes.run(await tool('etcd'), [...etcdArguments(place), careless]);
    const [token, user] = [randomUUID(), options.user ?? 'admin'];
    await writeCredentials(folder, [{ token, user, groups: ['system:masters'] }]);
    await writeKubeconfig(folder, { url: `https://127.0.0.1:${port}`, token, user });
    const [program, kubeconfig] = [await tool('kube-apiserver'), join(folder, 'kubeconfig')];
    const args = kubernetesArguments({ folder, etcdUrl: etcdUrl(place), port: port! }, [
      // Given twice, both would apply.
      ...(options.extraArguments?.some((one) => one.startsWith('--authorization-'))
        ? []
        : ['--authorization-mode=AlwaysAllow']),
      `--disable-admission-plugins=${disabledAdmission.join(',')}`,
      '--enable-admission-plugins=NodeRestriction',
      '--service-cluster-ip-range=10.0.0.0/24',
      ...(options.extraArguments ?? []),
    ]);
    let server = processes.run(program, args);
    const ready = (): Promise<void> => processes.until(() => isReady(kubeconfig));
    await ready();
    return {
      ...(await describeControlPlane('real', kubeconfig, processes.stop)),
      etcdUrl: etcdUrl(place),
      crash: () => processes.end(server),
      resume() {
        server = processes.run(program, args);
        return ready();
      },
    };
  });
}

async function writeKubeconfig(
  folder: string,
  { url, token, user }: { readonly url: string; readonly token: string; readonly user: string },
): Promise<void> {
  // The server creates its certificate when it starts and puts the signing CA into the same file.
  const authority = join(folder, 'certificates', 'apiserver.crt');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'conformance', cluster: { server: url, 'certificate-authority': authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'conformance', context: { cluster: 'conformance', user } }],
    'current-context': 'conformance',
  };
  await writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
}
