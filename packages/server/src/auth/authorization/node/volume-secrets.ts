/** Collects the secrets that a kubelet needs to mount a persistent volume, without those of controllers. */

import type { KubeObject } from '@hangar/api';

interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

interface WithSecret {
  readonly secretRef?: SecretReference;
}

export interface PersistentVolume extends KubeObject {
  readonly spec?: {
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly azureFile?: { readonly secretName?: string; readonly secretNamespace?: string };
    readonly cephfs?: WithSecret;
    readonly cinder?: WithSecret;
    readonly flexVolume?: WithSecret;
    readonly rbd?: WithSecret;
    readonly scaleIO?: WithSecret;
    readonly iscsi?: WithSecret;
    readonly storageos?: WithSecret;
    readonly csi?: {
      readonly nodePublishSecretRef?: SecretReference;
      readonly nodeStageSecretRef?: SecretReference;
      readonly nodeExpandSecretRef?: SecretReference;
    };
  };
}

/** Returns `namespace/name`. */
export function volumeSecrets({ spec = {} }: PersistentVolume): string[] {
  const claimNamespace = spec.claimRef?.namespace ?? '';
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec;
  const inClaims = [cephfs, flexVolume, rbd, scaleIO, iscsi].map((one) => one?.secretRef);
  const withNamespace = [
    cinder?.secretRef,
    storageos?.secretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ];
  const found: (readonly [namespace: string, name: string | undefined])[] = [
    [azureFile?.secretNamespace || claimNamespace, azureFile?.secretName],
    ...inClaims.map((one) => [one?.namespace || claimNamespace, one?.name] as const),
    ...withNamespace.map((one) => [one?.namespace ?? '', one?.name] as const),
  ];
  return found.flatMap(([namespace, name]) => (name ? [`${namespace}/${name}`] : []));
}
