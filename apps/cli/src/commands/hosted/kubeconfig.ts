/** `hangar hosted kubeconfig NAME`: prints, writes or merges the kubeconfig of the administrator of a HostedControlPlane. */

import { hasCode } from '@hangar/core';
import type { Call } from '../../command.ts';
import { failed } from '../../errors.ts';
import { findHosted, fullName } from '../../hosted/find.ts';
import { conditionOf, Secret } from '../../kinds.ts';
import type { HostedControlPlaneObject } from '../../kinds.ts';
import { readAccess } from '../../kubeconfig/access.ts';
import { plain, quoted } from '../../terminal/plain-text.ts';
import { checkKubeconfigOutput, outputKubeconfig } from '../common/kubeconfig-output.ts';

export async function hostedKubeconfig(call: Call): Promise<void> {
  checkKubeconfigOutput(call);
  const { session, given } = call;
  const client = await call.client();
  const { signal } = session;
  const name = given.args[1]!;
  const plane = await findHosted(client, name, { namespace: given.text('namespace'), signal });
  const key = { namespace: plane.metadata.namespace, name: `${clusterNameOf(plane)}-kubeconfig` };
  const secret = await client.get(Secret, key, { signal }).catch((error: unknown) => {
    if (!hasCode(error, 'NotFound')) throw error;
    const why = conditionOf(plane, 'Ready')?.message ?? 'the operator has not reconciled it';
    throw failed(`hosted control plane ${quoted(fullName(plane))} has no kubeconfig yet: ${plain(why)}`, {
      cause: error,
    });
  });
  const source = `Secret ${key.namespace}/${key.name}`;
  const access = readAccess(Buffer.from(secret.data?.['value'] ?? '', 'base64').toString(), source);
  return outputKubeconfig(call, { name, access, kind: 'hosted control plane' });
}

/** Objects have the name of the Cluster, if there is one. */
const clusterNameOf = ({ metadata }: HostedControlPlaneObject): string =>
  metadata.ownerReferences?.find(({ kind }) => kind === 'Cluster')?.name ?? metadata.name!;
