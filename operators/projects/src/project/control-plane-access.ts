/** Opens clients of the control planes of projects. */

import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client, ClusterConfig, Reader } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { clusterPathOf, servingMode } from '@hangar/controlplane-operator';
import type { ControlPlane, TenantHost } from '@hangar/controlplane-operator';
import { CodedError } from '@hangar/core';

/** `NoKubeconfig`: the control plane has no usable kubeconfig yet. */
export class AccessError extends CodedError<'NoKubeconfig'> {}

export interface ControlPlaneAccess {
  /** Returns the client of an administrator, which the caller closes. Rejects with `NoKubeconfig` or an error of the client. */
  enter(controlPlane: ControlPlane, signal: AbortSignal): Promise<Client>;
}

export interface AccessOptions {
  /** Enters virtual control planes. */
  readonly host: Pick<TenantHost, 'enter'>;
  /** Reads kubeconfigs of dedicated control planes from the server: Secrets are not cached. */
  readonly reader: Pick<Reader, 'get'>;
  /** Connects to dedicated control planes. Absent: over the network. */
  readonly connect?: ((config: ClusterConfig) => Client) | undefined;
}

export const controlPlaneAccess = (options: AccessOptions): ControlPlaneAccess => ({
  async enter(controlPlane, signal) {
    if (servingMode(controlPlane) === 'Virtual') return options.host.enter(clusterPathOf(controlPlane));
    const reference = controlPlane.status?.kubeconfigSecretRef;
    const name = controlPlane.metadata.name!;
    if (!reference) throw new AccessError('NoKubeconfig', `ControlPlane "${name}" has no kubeconfig yet`);
    const { data } = await options.reader.get(Secret, reference, { signal });
    const source = `Secret ${reference.namespace}/${reference.name}`;
    const encoded = data?.['kubeconfig'];
    if (!encoded) throw new AccessError('NoKubeconfig', `${source} has no key "kubeconfig"`);
    const config = await configOfKubeconfig(Buffer.from(encoded, 'base64').toString(), { source });
    return (options.connect ?? connect)(config);
  },
});
