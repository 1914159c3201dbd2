/** Where containers find the token of their pod's service account, with what they need to use it. */

import { generateName } from '@hangar/api';
import type { Random } from '@hangar/core';
import type { Container, PodSpec, Volume } from '../pod.ts';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const namePrefix = 'kube-api-access-';
/** An hour, and a little for clocks that differ: tokens that are used longer are warned about, not refused. */
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

/** Whoever mounts something there wants no token. */
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
