/** The ConfigMaps and Secrets that a pod refers to. */

import type { Pod } from '@hangar/client/kinds/core-v1';
import { projectionsOf } from '../volumes/payload.ts';

export const configKey = (kind: 'ConfigMap' | 'Secret', namespace: string, name: string): string =>
  `${kind} ${namespace}/${name}`;

/** Returns the keys of all objects that volumes and variables of the pod refer to. */
export function configOf({ metadata, spec }: Pod): Set<string> {
  const keys = new Set<string>();
  const add = (kind: 'ConfigMap' | 'Secret', reference: { readonly name?: string } | undefined): void => {
    if (reference?.name) keys.add(configKey(kind, metadata.namespace ?? '', reference.name));
  };
  for (const volume of spec?.volumes ?? []) {
    for (const { configMap, secret } of projectionsOf(volume)?.sources ?? []) {
      add('ConfigMap', configMap);
      add('Secret', secret);
    }
  }
  for (const { env = [], envFrom = [] } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const { configMapRef, secretRef } of envFrom) {
      add('ConfigMap', configMapRef);
      add('Secret', secretRef);
    }
    for (const { valueFrom } of env) {
      add('ConfigMap', valueFrom?.configMapKeyRef);
      add('Secret', valueFrom?.secretKeyRef);
    }
  }
  return keys;
}
