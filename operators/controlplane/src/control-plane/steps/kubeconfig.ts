/**
 * Step 12: Secret `controlplane-<name>-kubeconfig`. Written last: its annotations prove that all earlier steps are done. Requeued after
 * four fifths of the credentials' lifetime.
 */

import { keyOf } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { issue } from '../../kubeconfig/credentials.ts';
import { isKubeconfigDue, kubeconfigSecret } from '../../kubeconfig/secret.ts';
import { annotationOf, putSecret, renewsAtMs, secretAnnotations } from '../kept-secret.ts';
import type { SecretObject } from '../kept-secret.ts';
import { suspended } from '../suspended.ts';
import type { Pass, Verdict } from '../world.ts';

export async function kubeconfig(pass: Pass): Promise<Verdict | undefined> {
  const { auth } = pass;
  const before = pass.secrets!.kubeconfig;
  const annotations = { [secretAnnotations.inside]: pass.inside!, [secretAnnotations.addons]: pass.addons! };
  let secret = before;
  if (isKubeconfigDue(pass, before)) {
    const verdict = auth!.model === 'token' ? suspended(pass) : undefined;
    if (verdict) return verdict;
    const wanted = kubeconfigSecret(pass, await issue(pass, auth!.model));
    secret = await putSecret(pass, before, { ...wanted, annotations });
  } else if (Object.entries(annotations).some(([name, value]) => annotationOf(before, name) !== value)) {
    secret = await annotate(pass, before!, annotations);
  }
  const { namespace = '', name = '' } = secret!.metadata;
  pass.kubeconfigSecretRef = { name, namespace };
  pass.wakeUps.push(renewsAtMs(secret));
  return undefined;
}

function annotate(
  pass: Pass,
  before: SecretObject,
  annotations: Readonly<Record<string, string>>,
): Promise<SecretObject> {
  const { client, world, signal } = pass;
  const { uid, resourceVersion } = before.metadata;
  const body = { metadata: { uid, resourceVersion, annotations } };
  return world.writes.make('secret-annotations', () =>
    client.patch(Secret, keyOf(before), { type: 'merge', body }, { signal }),
  );
}
