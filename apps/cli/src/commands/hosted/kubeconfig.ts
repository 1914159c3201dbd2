/** `hangar hosted kubeconfig NAME`: prints, writes or merges the kubeconfig of the administrator of a HostedControlPlane. */

import { hasCode } from '@hangar/core';
import type { Call } from '../../command.ts';
import { failed, usage } from '../../errors.ts';
import { findHosted, fullName } from '../../hosted/find.ts';
import { conditionOf, Secret } from '../../kinds.ts';
import type { HostedControlPlaneObject } from '../../kinds.ts';
import { kubeconfigOf, readAccess } from '../../kubeconfig/access.ts';
import { printedValue } from '../../terminal/printed.ts';
import { plain, quoted } from '../../terminal/plain-text.ts';
import { mergedWith } from '../common/merged.ts';
import { writtenKubeconfig } from '../common/written-kubeconfig.ts';

export async function hostedKubeconfig({ session, given, client: connected }: Call): Promise<void> {
  const output = given.text('output');
  if (output === 'name' || output === 'wide')
    throw usage(`a kubeconfig cannot be printed as ${output}; use json or yaml`);
  if (given.flag('merge') && output !== undefined) throw usage('--merge and -o cannot be used together');
  const client = await connected();
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
  if (given.flag('merge')) return mergedWith(session, { controlPlane: name, access, isCurrent: false });
  if (output === 'json' || output === 'yaml') {
    return session.out.write(printedValue(output, kubeconfigOf(name, access)));
  }
  const where = await writtenKubeconfig(session, { name, access, file: output ?? '-' });
  if (where !== undefined) session.err.write(`kubeconfig of hosted control plane ${name} written to ${where}\n`);
}

/** Objects have the name of the Cluster, if there is one. */
const clusterNameOf = ({ metadata }: HostedControlPlaneObject): string =>
  metadata.ownerReferences?.find(({ kind }) => kind === 'Cluster')?.name ?? metadata.name!;
