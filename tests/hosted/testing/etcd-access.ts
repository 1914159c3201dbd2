/** Direct access to the etcd of the HostedControlPlane of a test, with the certificate of its API servers. */

import { ConfigMap, Pod, Secret } from '@hangar/client/kinds/core-v1';
import type { Client } from '@hangar/client';
import type { EtcdStoreOptions } from '@hangar/store/etcd';

export interface EtcdMemberAccess extends Required<Pick<EtcdStoreOptions, 'endpoints' | 'tls'>> {
  readonly pod: Pod;
}

export interface EtcdAccessOptions {
  readonly namespace: string;
  /** Name of the HostedControlPlane. */
  readonly name: string;
}

/** Returns how to connect to each member whose pod has an address, in the order of their names. */
export async function etcdAccess(client: Client, options: EtcdAccessOptions): Promise<readonly EtcdMemberAccess[]> {
  const { namespace, name } = options;
  const [bundle, secret] = await Promise.all([
    client.get(ConfigMap, { namespace, name: `${name}-ca-bundle` }),
    client.get(Secret, { namespace, name: `${name}-apiserver-etcd-client` }),
  ]);
  const text = (key: string): string => Buffer.from(secret.data![key]!, 'base64').toString();
  const tls = { ca: bundle.data!['etcd-ca.crt']!, cert: text('tls.crt'), key: text('tls.key') };
  return (await etcdPods(client, options)).flatMap((pod) => {
    const { podIP } = pod.status ?? {};
    if (podIP === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    const serverName = `${pod.metadata.name}.etcd-${name}.${namespace}.svc`;
    return [{ pod, endpoints: [`https://${podIP}:2379`], tls: { ...tls, serverName } }];
  });
}

/** In the order of their names. */
export async function etcdPods(client: Client, { namespace, name }: EtcdAccessOptions): Promise<readonly Pod[]> {
  const labelSelector = { 'app.kubernetes.io/component': 'etcd', 'cluster.x-k8s.io/cluster-name': name };
  const { items } = await client.list(Pod, { namespace, labelSelector });
  return items.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
}
