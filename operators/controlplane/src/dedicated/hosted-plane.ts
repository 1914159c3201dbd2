/** A HostedControlPlane as a provisioned control plane: mode Dedicated. Its addresses, CA and administrator are those of its kubeconfig. */

import { configOfKubeconfig, find } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { isControlledBy } from '@hangar/runtime';
import { textOf } from '../control-plane/kept-secret.ts';
import type { ProvisionedPlane } from '../control-plane/provisioned-plane.ts';
import type { Pass, Verdict } from '../control-plane/world.ts';
import { requestedCertificate } from './client-certificate.ts';
import { HostedControlPlane, hostedAddons, hostedKubeconfigKey, hostedKubeconfigName } from './hosted-control-plane.ts';
import type { HostedControlPlaneObject } from './hosted-control-plane.ts';

/** Undefined: the Secret does not exist yet. Reads from the server: the Secret is not in the cache of the operator. */
export async function hostedConfig({
  apiReader,
  namespace,
  controlPlane,
  signal,
}: Pass): Promise<ClusterConfig | undefined> {
  const name = hostedKubeconfigName(controlPlane.metadata.name!);
  const secret = await find(apiReader, Secret, { namespace, name }, { signal });
  const text = textOf(secret, hostedKubeconfigKey);
  return text === '' ? undefined : configOfKubeconfig(text, { source: `Secret ${namespace}/${name}` });
}

export function hostedPlane(pass: Pass, hosted: HostedControlPlaneObject, config: ClusterConfig): ProvisionedPlane {
  const { world, apiReader, namespace, controlPlane, entrance } = pass;
  const name = controlPlane.metadata.name!;
  return {
    uid: hosted.metadata.uid!,
    suspension: undefined,
    initialServer: undefined,
    tlsServerName: config.serverName,
    includedAddons: hostedAddons,
    reportsChanges: false,
    resync: {
      dueAtMs: () => world.addonResync.dueAtMs(name),
      done: () => world.addonResync.done(name),
      forget: () => world.addonResync.forget(name),
    },
    servingCa: () => config.ca ?? '',
    enter: () => world.dedicated.connect(config),
    issueCertificate: async (wanted, { signal }) =>
      requestedCertificate(await entrance.client(), wanted, { clock: world.clock, signal: signal ?? pass.signal }),
    // Its operator writes them.
    nodeObjects: () => Promise.resolve({ objects: [], clusterInfo: undefined }),
    async verify(signal) {
      const there = await find(apiReader, HostedControlPlane, { namespace, name }, { signal });
      const isSame = there?.metadata.uid === hosted.metadata.uid && isControlledBy(there!, controlPlane);
      return isSame ? undefined : replaced(namespace, name);
    },
  };
}

const replaced = (namespace: string, name: string): Verdict => ({
  type: 'Programmed',
  reason: 'HostedControlPlaneTerminating',
  message: `HostedControlPlane "${namespace}/${name}" was deleted or replaced, retrying`,
  lookAgainMs: 1_000,
});
