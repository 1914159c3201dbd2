/** Access to a cluster: from a kubeconfig, or from the service account of the pod. */

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isObject, parseYaml } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** Address of a cluster and the credentials for it. */
export interface ClusterAccess {
  /** URL of the server: `https://host:port`. */
  readonly server: string;
  /** Certificate authority in PEM; absent: the authorities that the system trusts. */
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
  readonly isInsecure?: boolean | undefined;
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
  /** Returns the current token. Called periodically, because tokens of pods are rotated. */
  readonly token?: (() => Promise<string>) | undefined;
}

const podFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns the access of the pod that this process runs in. Rejects outside of a pod. */
export async function inClusterAccess(env: NodeJS.ProcessEnv = process.env): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) throw new Error('not in a cluster: KUBERNETES_SERVICE_HOST and _PORT are not set');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: await readFile(`${podFolder}/ca.crt`, 'utf8'),
    token: () => readFile(`${podFolder}/token`, 'utf8').then((text) => text.trim()),
  };
}

/** Returns the access of the current context of a kubeconfig. Rejects if the user requires a credential plugin. */
export async function kubeconfigAccess(path: string): Promise<ClusterAccess> {
  const { value } = parseYaml(await readFile(path));
  const config = asObject(value, path);
  const context = named(config, 'contexts', String(config['current-context'] ?? ''), 'context', path);
  const cluster = named(config, 'clusters', String(context['cluster']), 'cluster', path);
  const user = named(config, 'users', String(context['user']), 'user', path);
  if (user['exec'] !== undefined || user['auth-provider'] !== undefined) {
    throw new Error(`${path}: exec and auth-provider credentials are not supported`);
  }
  const data = (from: JsonObject, name: string): Promise<string | undefined> => contentOf(from, name, path);
  const certificate = await data(user, 'client-certificate');
  const key = await data(user, 'client-key');
  const serverName = cluster['tls-server-name'];
  return {
    server: String(cluster['server'] ?? '').replace(/\/$/, ''),
    ca: await data(cluster, 'certificate-authority'),
    serverName: serverName === undefined ? undefined : String(serverName),
    isInsecure: cluster['insecure-skip-tls-verify'] === true,
    clientCertificate: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
    token: tokenOf(user, path),
  };
}

/** Returns the access by the given kubeconfig, by `KUBECONFIG`, or by the pod; the first that exists. */
export async function clusterAccess(kubeconfig: string | undefined, env = process.env): Promise<ClusterAccess> {
  const path = kubeconfig ?? env['KUBECONFIG'];
  return path ? kubeconfigAccess(path) : inClusterAccess(env);
}

function tokenOf(user: JsonObject, path: string): (() => Promise<string>) | undefined {
  const { token, tokenFile } = user;
  if (typeof tokenFile === 'string') {
    return async () => (await readFile(resolve(dirname(path), tokenFile), 'utf8')).trim();
  }
  return typeof token === 'string' ? () => Promise.resolve(token) : undefined;
}

/** Returns inline data, or the contents of a file relative to the kubeconfig. */
async function contentOf(from: JsonObject, name: string, path: string): Promise<string | undefined> {
  const inline = from[`${name}-data`];
  if (typeof inline === 'string') return Buffer.from(inline, 'base64').toString();
  const file = from[name];
  return typeof file === 'string' ? readFile(resolve(dirname(path), file), 'utf8') : undefined;
}

function named(config: JsonObject, list: string, name: string, part: string, path: string): JsonObject {
  const all = Array.isArray(config[list]) ? (config[list] as unknown[]) : [];
  const found = all.find((one) => isObject(one) && one['name'] === name);
  return asObject(isObject(found) ? found[part] : undefined, `${path}: ${part} "${name}"`);
}

function asObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw new Error(`${what} is missing or not an object`);
  return value;
}
