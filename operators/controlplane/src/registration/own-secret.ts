/**
 * The kubeconfig that is made for one registration, when its endpoint is another than its control plane's. It is in the control
 * plane's management namespace, beside the one that it is made of: whoever may read one of them may read the other.
 *
 * The registration owns it, but not every management plane has a garbage collector: the controller takes it away itself. Since the
 * Secret says which registration it is for, and is looked at whenever the controller starts, none is forgotten.
 */

import { keyOf } from '@hangar/client';
import type { Client, ObjectKey } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { controllerReference, createOrPatch } from '@hangar/runtime';
import { annotations, labels, labelValue, managementNamespace, registrationSecretName } from '../api/index.ts';
import type { ControlPlaneRegistration, SecretReference } from '../api/index.ts';
import { controlPlaneOf } from './resolution.ts';
import { kubeconfigKey } from './kubeconfig.ts';

/** The value of the label `kubeconfig`. */
const role = 'registration';

export const registrationOf = ({ metadata }: Pick<Secret, 'metadata'>): string | undefined =>
  metadata.labels?.[labels.kubeconfig] === role ? metadata.annotations?.[annotations.registration] : undefined;

export interface OwnSecretWrite {
  readonly registration: ControlPlaneRegistration;
  readonly kubeconfig: string;
  readonly signal?: AbortSignal | undefined;
}

/** Written when it is not so already. Rejects with `Conflict`, `AlreadyExists` when the cache is behind. */
export async function writeOwnSecret(client: Client, write: OwnSecretWrite): Promise<SecretReference> {
  const { registration, kubeconfig, signal } = write;
  const [name, controlPlane] = [registration.metadata.name!, controlPlaneOf(registration)];
  const reference = { name: registrationSecretName(name), namespace: managementNamespace(controlPlane) };
  const data = { [kubeconfigKey]: Buffer.from(kubeconfig).toString('base64') };
  const mutate = (secret: Secret): void => {
    const { metadata } = secret;
    metadata.labels = {
      ...metadata.labels,
      [labels.kubeconfig]: role,
      [labels.name]: labelValue(controlPlane),
    };
    metadata.annotations = { ...metadata.annotations, [annotations.registration]: name };
    metadata.ownerReferences = [controllerReference(registration)];
    secret.data = data;
    secret.type ??= 'Opaque';
  };
  await createOrPatch(client, Secret, reference, mutate, { signal });
  return reference;
}

/** All that were made for a registration of this name, but for the one that is to stay. */
export async function deleteOwnSecrets(
  client: Client,
  secrets: Iterable<Secret>,
  { keep, signal }: { readonly keep?: ObjectKey | undefined; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  for (const secret of secrets) {
    const { name, namespace, uid, deletionTimestamp } = secret.metadata;
    if (deletionTimestamp || (name === keep?.name && namespace === keep?.namespace)) continue;
    await client.delete(Secret, keyOf(secret), { preconditions: { uid: uid! }, signal });
  }
}
