/**
 * Reads the configuration that Kubernetes provides in every pod: the address of the API, its certificate authority, and a token that is
 * rotated.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asError, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ClientError } from '../errors.ts';
import { AuthorityFile } from './authority-file.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { TokenFile } from './token-file.ts';

/** Options of `inClusterConfig`. */
export interface InClusterOptions {
  /** Folder of the service account files. Absent: the folder that the kubelet mounts. */
  readonly folder?: string | undefined;
  /** Clock for the renewal of the token. Absent: the system clock. */
  readonly clock?: Clock | undefined;
}

const podFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns the URL of the API server, or undefined outside of a pod. */
export function serviceOf({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv) {
  if (!host || !port) return undefined;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns the configuration of the pod that this process runs in. Rejects with `InvalidKubeconfig` outside of a pod, and with
 * `CredentialsFailed` in a pod without a token.
 */
export async function inClusterConfig(
  env: NodeJS.ProcessEnv = process.env,
  { folder = podFolder, clock = systemClock }: InClusterOptions = {},
): Promise<ClusterConfig> {
  const server = serviceOf(env);
  if (server === undefined) {
    throw new ClientError(
      'InvalidKubeconfig',
      'not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
    );
  }
  const credentials = new TokenFile(join(folder, 'token'), { clock });
  const authority = new AuthorityFile(join(folder, 'ca.crt'), clock);
  await credentials.headers();
  return {
    server,
    ca: await authority.read(),
    renewedCa: () => authority.read(),
    credentials,
    namespace: await namespaceIn(join(folder, 'namespace')),
  };
}

async function namespaceIn(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ClientError('InvalidKubeconfig', `${path}: ${asError(cause).message}`, { cause });
  }
}
