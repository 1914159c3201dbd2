/** The versions of Kubernetes of an upgrade in tests. */

import { tool } from '../../../tools/tool.ts';

export const [olderVersion, newerVersion] = ['v1.35.8', 'v1.36.4'] as const;

/** The components whose version is that of Kubernetes. */
export const versionedComponents = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Returns the programs of the older version by image, for the process runtime. */
export async function olderPrograms(): Promise<Readonly<Record<string, string>>> {
  const images = await Promise.all(
    versionedComponents.map(async (name) => {
      const program = await tool(`${name}-1.35`, { log: console.log });
      return [`registry.k8s.io/${name}:${olderVersion}`, program] as const;
    }),
  );
  return Object.fromEntries(images);
}
