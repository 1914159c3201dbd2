/** The images of the components of hosted control planes on a real node, under the names that the operator renders. */

import { etcdTags, registry } from '../../../operators/hosted/src/render/v1/defaults.ts';
import { parseVersion } from '../../../operators/hosted/src/render/index.ts';
import type { Alias } from '../../conformance/nodes/images.ts';

const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** The images that a node needs. */
export const componentImages = ['etcd', ...components] as const;

/** Returns the names of the images for a version of Kubernetes. Nothing pulls them from the registry, because the node has them. */
export function componentAliases(version: string): Alias[] {
  const { tag, minor } = parseVersion(version);
  return [
    { image: 'etcd', name: `${registry}/etcd:${etcdTags[minor]}` },
    ...components.map((image) => ({ image, name: `${registry}/${image}:${tag}` })),
  ];
}
