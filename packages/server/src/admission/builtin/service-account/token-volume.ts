/** Adds the volume with the service account token, the CA bundle and the namespace to a pod. */

import { generateName } from '@hangar/api';
import type { Random } from '@hangar/core';
import type { Container, PodSpec, Volume } from '../pod.ts';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const namePrefix = 'kube-api-access-';
/** An hour plus a margin for clock skew: use of older tokens leads to a warning, not to a denial. */
const expirationSeconds = 60 * 60 + 7;

export function mountToken(spec: PodSpec, random: Random): void {
  const known = spec.volumes?.find(({ name = '' }) => name.startsWith(namePrefix));
  const name = known?.name ?? generateName(namePrefix, random);
  let isNeeded = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (hasMount(container)) continue;
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
    isNeeded = true;
  }
  if (isNeeded && !known) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

/** A container with its own mount at this path gets no token. */
const hasMount = ({ volumeMounts }: Container): boolean =>
  volumeMounts?.some((mount) => mount.mountPath === mountPath) ?? false;

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } as { name: string } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
});
