/**
 * The control plane of a Hangar that a suite tests: the management plane, or a tenant of it, where everything must be the same.
 * `tests/conformance/inside-a-tenant` runs the suites of the other folders there.
 *
 * HANGAR_CONFORMANCE_PLACE=tenant        by the tenant's path
 * HANGAR_CONFORMANCE_PLACE=tenant-host   by its host name, which kubectl proxy needs: it leaves out the path of a server
 */

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';

const place = process.env['HANGAR_CONFORMANCE_PLACE'];

export const isInTenant = (): boolean => place === 'tenant' || place === 'tenant-host';

/** Name of the tenant that suites run in. */
export const tenantName = 'inside';

const execute = promisify(execFile);
const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';

export interface TenantAccess {
  /** Of the management plane's administrator. */
  readonly kubeconfig: string;
  readonly name: string;
  /** For the files that are written. */
  readonly folder: string;
}

/** Creates the tenant; returns the kubeconfig of its administrator. */
export async function makeTenant({ kubeconfig, name, folder }: TenantAccess): Promise<string> {
  const tenant = {
    kind: 'Tenant',
    apiVersion: 'tenancy.hangar.dev/v1alpha1',
    metadata: { name },
    spec: { deletionPolicy: 'Destroy', hosts: [hostOf(name)] },
  };
  await post({ kubeconfig, folder, name }, tenants, tenant);
  return tenantKubeconfig({ kubeconfig, name, folder });
}

const administrator = { name: 'admin', groups: ['system:masters'] };

/** Returns the kubeconfig of one user of the tenant; by default its administrator. */
export async function tenantKubeconfig(
  { kubeconfig, name, folder }: TenantAccess,
  user: { readonly name: string; readonly groups: readonly string[] } = administrator,
): Promise<string> {
  const spec = { user: user.name, groups: user.groups };
  const answer = await post({ kubeconfig, folder, name }, `${tenants}/${name}/kubeconfig`, { spec });
  const path = join(folder, `${name}-${user.name.replaceAll(':', '-')}.kubeconfig`);
  const { kubeconfig: text } = (answer as { status: { kubeconfig: string } }).status;
  await writeFile(path, place === 'tenant-host' && user === administrator ? byHost(text, name) : text, { mode: 0o600 });
  return path;
}

const hostOf = (name: string): string => `${name}.example.com`;

const byHost = (kubeconfig: string, name: string): string =>
  kubeconfig.replace(/^( +server: https:\/\/)[^/:]+(:\d+)\/.*$/m, `$1${hostOf(name)}$2`);

export interface Command {
  readonly path: string;
  readonly args: readonly string[];
}

/**
 * Returns the command in an environment that resolves the names of tenants to this machine: in a mount namespace with its own /etc/hosts.
 */
export async function whereTenantsHaveNames({ path, args }: Command, name: string, folder: string): Promise<Command> {
  if (place !== 'tenant-host') return { path, args };
  const hosts = join(folder, 'hosts');
  await writeFile(hosts, `127.0.0.1 localhost ${hostOf(name)}\n`);
  const script = 'mount --bind "$0" /etc/hosts && exec "$@"';
  return { path: 'unshare', args: ['--mount', 'sh', '-c', script, hosts, path, ...args] };
}

export interface TenantKeyFiles {
  readonly authority: { readonly certificate: string; readonly key: string };
  readonly serviceAccountKey: string;
}

/** Writes the signing keys of the tenant's controller manager to files. */
export async function tenantKeyFiles(access: TenantAccess): Promise<TenantKeyFiles> {
  const { folder, name } = access;
  const answer = await post(access, `${tenants}/${name}/keys`, {});
  const { authority, serviceAccountKey } = (
    answer as { status: { authority: { certificate: string; key: string }; serviceAccountKey: string } }
  ).status;
  const write = async (file: string, text: string): Promise<string> => {
    const path = join(folder, `${name}-${file}`);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    authority: {
      certificate: await write('ca.crt', authority.certificate),
      key: await write('ca.key', authority.key),
    },
    serviceAccountKey: await write('sa.key', serviceAccountKey),
  };
}

async function post({ kubeconfig, folder, name }: TenantAccess, path: string, body: object): Promise<unknown> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(body));
  const args = ['create', `--raw=${path}`, `--filename=${file}`, `--kubeconfig=${kubeconfig}`];
  const { stdout } = await execute(await tool('kubectl'), args);
  return JSON.parse(stdout);
}
