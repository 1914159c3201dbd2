/** The versions of etcd of an upgrade in tests. */

import { tool } from '../../../tools/tool.ts';

export interface EtcdVersions {
  readonly older: string;
  readonly newer: string;
  /** Programs by image, for the process runtime. */
  readonly images: Readonly<Record<string, string>>;
}

export async function etcdVersions(): Promise<EtcdVersions> {
  const [older, newer] = ['3.5.26', '3.6.8'];
  const images = {
    [`registry.k8s.io/etcd:${older}-0`]: await tool('etcd-3.5', { log: console.log }),
    [`registry.k8s.io/etcd:${newer}-0`]: await tool('etcd', { log: console.log }),
  };
  return { older, newer, images };
}
