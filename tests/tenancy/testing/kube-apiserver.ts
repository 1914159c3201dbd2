/** The real kube-apiserver on the range of one tenant: its keys, its issuer, its CA. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { tool } from '../../../tools/tool.ts';
import { freePorts } from '../../../tools/free-ports.ts';
import { Processes } from '../../conformance/servers/processes.ts';
import type { Access, Data } from './access.ts';

export interface DedicatedOptions {
  readonly etcdUrl: string;
  readonly path: string;
  /** The answer of `tenants/keys`. */
  readonly keys: Data;
  /** An administrator of the tenant, with the same certificate here. */
  readonly administrator: Access;
  readonly more?: readonly string[];
}

export interface Dedicated extends AsyncDisposable {
  readonly administrator: Access;
}

export function startOnTenant({ etcdUrl, path, keys, administrator, more = [] }: DedicatedOptions): Promise<Dedicated> {
  return Processes.start('dedicated', async (processes) => {
    const { folder } = processes;
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const [port] = await freePorts(1);
    processes.run(await tool('kube-apiserver'), [
      `--etcd-servers=${etcdUrl}`,
      `--etcd-prefix=/registry/clusters/${path}`,
      '--storage-media-type=application/json',
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${folder}/certificates`,
      `--service-account-issuer=${keys.serviceAccountIssuer}`,
      `--service-account-key-file=${await file('sa.pub', keys.serviceAccountPublicKey)}`,
      `--service-account-signing-key-file=${await file('sa.key', keys.serviceAccountKey)}`,
      `--client-ca-file=${await file('ca.crt', keys.authority.certificate)}`,
      `--requestheader-client-ca-file=${await file('front-proxy-ca.crt', keys.frontProxyAuthority.certificate)}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--authorization-mode=Node,RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      // Does not write its own address into the tenant.
      '--endpoint-reconciler-type=none',
      ...more,
    ]);
    const certificate = join(folder, 'certificates', 'apiserver.crt');
    let access: Access | undefined;
    await processes.until(async () => {
      const ca = await readFile(certificate, 'utf8').catch(() => undefined);
      if (ca === undefined) return false;
      access ??= administrator.as({ url: `https://127.0.0.1:${port}`, ca });
      const got = await access.ask('GET', '/readyz').catch(() => undefined);
      return got?.status === 200;
    });
    return {
      administrator: access!,
      async [Symbol.asyncDispose]() {
        access![Symbol.dispose]();
        await processes.stop();
      },
    };
  });
}
