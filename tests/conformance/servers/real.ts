/** The real kube-apiserver on a real etcd, the judge of every conformance test. */

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '../../../tools/tool.ts';
import { describeControlPlane, isReady } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { freePorts, Processes } from './processes.ts';

/** Who the kubeconfig's credentials are; only `auth whoami` and the like show it. */
export interface RealOptions {
  readonly user?: string;
  readonly extraArguments?: readonly string[];
}

/**
 * Admission that the tests do without: accounts, which a controller would have to make, and what a node must declare about
 * itself, which Hangar does not ask.
 */
const disabledAdmission = ['ServiceAccount', 'NodeDeclaredFeatureValidator'];

export function startReal(options: RealOptions = {}): Promise<ControlPlane> {
  return Processes.start('real', async (processes) => {
    const { folder } = processes;
    const [etcdPort, peerPort, port] = await freePorts(3);
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const url = `https://127.0.0.1:${port}`;
    processes.run(await tool('etcd'), [
      `--data-dir=${folder}/etcd`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      '--unsafe-no-fsync',
    ]);
    const token = randomUUID();
    await writeCredentials(folder, { url, token, user: options.user ?? 'admin' });
    processes.run(await tool('kube-apiserver'), [
      `--etcd-servers=${etcdUrl}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${folder}/certificates`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${folder}/sa.pub`,
      `--service-account-signing-key-file=${folder}/sa.key`,
      `--token-auth-file=${folder}/tokens.csv`,
      '--authorization-mode=AlwaysAllow',
      `--disable-admission-plugins=${disabledAdmission.join(',')}`,
      '--enable-admission-plugins=NodeRestriction',
      '--service-cluster-ip-range=10.0.0.0/24',
      ...(options.extraArguments ?? []),
    ]);
    const kubeconfig = join(folder, 'kubeconfig');
    await processes.until(() => isReady(kubeconfig));
    return describeControlPlane('real', kubeconfig, processes.stop);
  });
}

async function writeCredentials(
  folder: string,
  { url, token, user }: { readonly url: string; readonly token: string; readonly user: string },
): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(join(folder, 'tokens.csv'), `${token},${user},,system:masters\n`);
  // The server makes its certificate when it starts and puts the one that signed it into the same file.
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
