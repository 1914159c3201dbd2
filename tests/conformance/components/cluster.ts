/**
 * Hangar with Kubernetes' own components beside it, each a separate process, unmodified and with their defaults, except for settings of a
 * cluster's installer: credentials, and the signing CA.
 *
 * The server's port and data stay the same after a restart, so that the components find it.
 */

import { generateKeyPairSync } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate, kubeconfig as kubeconfigText } from '@hangar/pki';
import { tool } from '../../../tools/tool.ts';
import type { ToolName } from '../../../tools/tool.ts';
import { describeControlPlane, isReady } from '../servers/control-plane.ts';
import type { ControlPlane } from '../servers/index.ts';
import { isInTenant, makeTenant, tenantKeyFiles, tenantKubeconfig, tenantName } from '../servers/place.ts';
import type { TenantAccess } from '../servers/place.ts';
import { freePorts } from '../../../tools/free-ports.ts';
import { Processes } from '../servers/processes.ts';
import { ComponentLog } from './component-log.ts';

export type ComponentName = 'kube-controller-manager' | 'kube-scheduler';

export interface Cluster extends ControlPlane {
  /** For files that are removed with the cluster. */
  readonly folder: string;
  readonly logs: ReadonlyMap<ComponentName | 'hangar', ComponentLog>;
  readonly installation: Installation;
  /** Starts one more component. */
  startComponent(name: ComponentName): Promise<void>;
  /** Kills the server and starts it again. */
  restartServer(): Promise<void>;
}

export interface ClusterOptions {
  readonly components: readonly ComponentName[];
  /** Additional flags for the server. */
  readonly serverArguments?: readonly string[];
}

const program = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
/** Endpoints must not be loopback addresses; this one is for documentation (RFC 5737), and is never connected to. */
const advertised = '192.0.2.10';

export async function startCluster({ components, serverArguments = [] }: ClusterOptions): Promise<Cluster> {
  // Built before the server is started, if necessary: that takes minutes.
  for (const name of components) await tool(name, { log: console.log });
  return Processes.start('cluster', async (processes) => {
    const { folder } = processes;
    const kubeconfig = join(folder, 'kubeconfig');
    const [port] = await freePorts(1);
    await writeSigningKey(folder);
    const logs = new Map<ComponentName | 'hangar', ComponentLog>([['hangar', new ComponentLog()]]);
    const startServer = async (): Promise<ChildProcess> => {
      const child = processes.run(
        process.execPath,
        [
          program,
          'up',
          // Kubernetes' own components do the work of Hangar's.
          '--bare',
          `--data-dir=${folder}/data`,
          `--listen=127.0.0.1:${port}`,
          `--kubeconfig=${kubeconfig}`,
          `--advertise-address=${advertised}`,
          `--service-account-signing-key-file=${folder}/sa.key`,
          `--service-account-key-file=${folder}/sa.pub`,
          ...serverArguments,
        ],
        { onOutput: logs.get('hangar')!.add },
      );
      await processes.until(async () => existsSync(kubeconfig) && (await isReady(kubeconfig)));
      return child;
    };
    let server = await startServer();
    const installation = isInTenant()
      ? await installationInTenant({ kubeconfig, name: tenantName, folder })
      : installationAtRoot(folder, kubeconfig, `https://127.0.0.1:${port}`);
    const startComponent = async (name: ComponentName): Promise<void> => {
      const log = new ComponentLog();
      logs.set(name, log);
      const path = await tool(name satisfies ToolName, { log: console.log });
      const credentials = await installation.kubeconfigOf(name);
      processes.run(path, [`--kubeconfig=${credentials}`, ...flags[name](installation)], { onOutput: log.add });
    };
    for (const name of components) await startComponent(name);
    const plane = await describeControlPlane('hangar', installation.kubeconfig, processes.stop);
    return {
      ...plane,
      folder,
      logs,
      installation,
      startComponent,
      async restartServer() {
        await processes.end(server);
        server = await startServer();
      },
    };
  });
}

/** Settings of a control plane for an installer. */
export interface Installation {
  /** Of the administrator. */
  readonly kubeconfig: string;
  readonly serviceAccountKeyFile: string;
  /** CA of the certificate of the server's port. */
  readonly rootCaFile: string;
  /** Signs certificates of users. */
  readonly signing: { readonly certificate: string; readonly key: string };
  /** The user of a component, `system:<its name>`, has the role of the default policy, and no more. */
  kubeconfigOf(component: ComponentName): Promise<string>;
}

export const flags: Record<ComponentName, (installation: Installation) => string[]> = {
  'kube-controller-manager': ({ serviceAccountKeyFile, rootCaFile, signing }) => [
    // Its own metrics are not needed, and a fixed port would collide with a second cluster.
    '--secure-port=0',
    '--use-service-account-credentials',
    `--service-account-private-key-file=${serviceAccountKeyFile}`,
    `--root-ca-file=${rootCaFile}`,
    `--cluster-signing-cert-file=${signing.certificate}`,
    `--cluster-signing-key-file=${signing.key}`,
  ],
  'kube-scheduler': () => ['--secure-port=0'],
};

const installationAtRoot = (folder: string, kubeconfig: string, url: string): Installation => ({
  kubeconfig,
  serviceAccountKeyFile: `${folder}/sa.key`,
  rootCaFile: `${folder}/data/pki/ca.crt`,
  signing: { certificate: `${folder}/data/pki/ca.crt`, key: `${folder}/data/pki/ca.key` },
  kubeconfigOf: (component) => componentKubeconfig(folder, component, url),
});

/** Creates the tenant. */
export async function installationInTenant(access: TenantAccess): Promise<Installation> {
  const kubeconfig = await makeTenant(access);
  const { authority, serviceAccountKey } = await tenantKeyFiles(access);
  return {
    kubeconfig,
    serviceAccountKeyFile: serviceAccountKey,
    rootCaFile: join(access.folder, 'data/pki/ca.crt'),
    signing: authority,
    kubeconfigOf: (component) => tenantKubeconfig(access, { name: `system:${component}`, groups: [] }),
  };
}

async function componentKubeconfig(folder: string, name: ComponentName, server: string): Promise<string> {
  const [certificate, key] = await Promise.all(
    ['crt', 'key'].map((kind) => readFile(join(folder, `data/pki/ca.${kind}`), 'utf8')),
  );
  const user = `system:${name}`;
  const credentials = issueCertificate(
    { certificate: certificate!, key: key! },
    { commonName: user, usage: 'client', days: 1 },
    { clock: systemClock, random: systemRandom },
  );
  const path = join(folder, `${name}.kubeconfig`);
  const text = kubeconfigText({ name: 'hangar', user, server, authority: certificate!, credentials });
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

async function writeSigningKey(folder: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await writeFile(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
}
