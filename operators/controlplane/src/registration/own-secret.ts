/**
 * The kubeconfig that is generated for one registration, when its endpoint differs from its control plane's. It is in the control plane's
 * management namespace, beside its source: a user who may read one of them may read the other.
 *
 * The registration owns it, but not every management plane has a garbage collector: the controller deletes it itself. The Secret names its
 * registration and is reconciled when the controller starts, so none is left behind.
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

/** Writes only on a difference. Rejects with `Conflict`, `AlreadyExists` when the cache is stale. */
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

/** Deletes all Secrets that were created for a registration of this name, except the one to keep. */
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
