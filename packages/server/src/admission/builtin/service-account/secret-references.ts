/** Finds the secrets that a pod uses, and checks whether its service account allows them. */

import { UnclassifiedError } from '@hangar/api';
import { allContainers } from '../pod.ts';
import type { Container, PodSpec, Volume } from '../pod.ts';
import type { ServiceAccount } from './plugin.ts';

export function hasSecrets(spec: PodSpec): boolean {
  if (spec.imagePullSecrets?.some(({ name }) => name)) return true;
  for (const { envFrom, env } of allContainers(spec)) {
    if (envFrom?.some(({ secretRef }) => secretRef?.name)) return true;
    if (env?.some(({ valueFrom }) => valueFrom?.secretKeyRef?.name)) return true;
  }
  return spec.volumes?.some(usesSecret) ?? false;
}

/** Sources that name a secret in a `secretRef`. */
const withReference = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'];

function usesSecret(volume: Volume): boolean {
  const { secret, projected, csi, azureFile } = volume as Volume & { azureFile?: { secretName?: string } | null };
  if (secret?.secretName || azureFile?.secretName || csi?.nodePublishSecretRef?.name) return true;
  if (projected?.sources?.some((one) => one.secret?.name)) return true;
  return withReference.some((source) => (volume[source] as { secretRef?: { name?: string } } | null)?.secretRef?.name);
}

const because = ({ name }: ServiceAccount): string =>
  `is not allowed because service account ${name} does not reference that`;

/** Returns undefined if the account allows all secrets. */
export function secretProblem(spec: PodSpec, account: ServiceAccount): string | undefined {
  for (const { secret } of spec.volumes ?? []) {
    if (!secret) continue;
    const { secretName = '' } = secret;
    if (!account.secrets.has(secretName))
      return `volume with secret.secretName="${secretName}" ${because(account)} secret`;
  }
  for (const container of spec.initContainers ?? []) {
    const problem = containerProblem(container, 'init container', account);
    if (problem !== undefined) return problem;
  }
  for (const container of spec.containers ?? []) {
    const problem = containerProblem(container, 'container', account);
    if (problem !== undefined) return problem;
  }
  const at = spec.imagePullSecrets?.findIndex(({ name = '' }) => !account.pullSecrets.includes(name)) ?? -1;
  if (at < 0) return undefined;
  const { name = '' } = spec.imagePullSecrets![at]!;
  return `imagePullSecrets[${at}].name="${name}" ${because(account)} imagePullSecret`;
}

/** kube-apiserver returns this error without a status reason. */
export function ephemeralSecretProblem(spec: PodSpec, account: ServiceAccount): UnclassifiedError | undefined {
  for (const container of spec.ephemeralContainers ?? []) {
    const problem = containerProblem(container, 'ephemeral container', account);
    if (problem !== undefined) return new UnclassifiedError(problem);
  }
  return undefined;
}

function containerProblem(container: Container, what: string, account: ServiceAccount): string | undefined {
  const { name = '', env, envFrom } = container;
  for (const variable of env ?? []) {
    const reference = variable.valueFrom?.secretKeyRef;
    if (!reference || account.secrets.has(reference.name ?? '')) continue;
    const secret = `secret.secretName="${reference.name ?? ''}"`;
    return `${what} ${name} with envVar ${variable.name ?? ''} referencing ${secret} ${because(account)} secret`;
  }
  for (const { secretRef } of envFrom ?? []) {
    if (!secretRef || account.secrets.has(secretRef.name ?? '')) continue;
    return `${what} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}" ${because(account)} secret`;
  }
  return undefined;
}
