/**
 * Resolves the address and the kubeconfig of a registered control plane. Pure: all inputs are given. In the order of the table in
 * README.md; the first missing input is the reason.
 *
 * Endpoint and kubeconfig have the same address, or the registration is not ready. About a Secret that a user named, only whether it fits
 * is disclosed.
 */

import { isConditionTrue, findCondition } from '@hangar/runtime';
import { serviceIncluded } from '@hangar/runtime/clusters';
import type { ControlPlane, ControlPlaneEndpoint, ControlPlaneRegistration, SecretReference } from '../api/index.ts';
import { clusterPathOf, kubeconfigSecretName, managementNamespace } from '../api/index.ts';
import { isAtAnyPath, isSameAddress, resolveAddresses, writtenAddress } from '../endpoint/resolve.ts';
import type { KubeconfigFacts } from './kubeconfig.ts';
import { isServedDedicated } from '../migration/current-mode.ts';
import { dedicatedServices, hasService } from './services.ts';

export interface Found {
  readonly registration: ControlPlaneRegistration;
  readonly controlPlane?: ControlPlane | undefined;
  /** Of `spec.endpointRef`. */
  readonly endpoint?: ControlPlaneEndpoint | undefined;
  /** Content of the Secret that `secretOf` names; undefined: it does not exist. */
  readonly kubeconfig?: KubeconfigFacts | undefined;
}

/** `rewrite`: the kubeconfig is for another address, and belongs to the operator: it is to be rewritten for this one. */
export type Resolution =
  | {
      readonly reason: 'Resolved';
      readonly address: string;
      readonly secret: SecretReference;
      readonly rewrite: boolean;
    }
  | { readonly reason: PendingReason; readonly message: string };

export type PendingReason =
  | 'ControlPlaneRefMissing'
  | 'ControlPlaneNotFound'
  | typeof serviceIncluded
  | 'EndpointPending'
  | 'KubeconfigPending'
  | 'ControlPlaneNotReady';

export const controlPlaneOf = ({ spec }: ControlPlaneRegistration): string => spec?.controlPlaneRef?.name ?? '';

/** The Secret that the operator maintains for a control plane. */
export const ownSecretOf = (controlPlane: string): SecretReference => ({
  namespace: managementNamespace(controlPlane),
  name: kubeconfigSecretName(controlPlane),
});

/** Returns the Secret that the registration names, else the control plane's. Undefined: there is none yet. */
export const secretOf = (
  { spec }: ControlPlaneRegistration,
  controlPlane: ControlPlane | undefined,
): SecretReference | undefined => spec?.kubeconfigSecretRef ?? controlPlane?.status?.kubeconfigSecretRef;

export function resolve(found: Found): Resolution {
  const { registration, controlPlane, kubeconfig } = found;
  const name = controlPlaneOf(registration);
  if (name === '') return pending('ControlPlaneRefMissing', 'spec.controlPlaneRef.name is empty');
  if (!controlPlane) return pending('ControlPlaneNotFound', `ControlPlane "${name}" not found`);
  const included = includedServices(registration, controlPlane);
  if (included.length > 0) {
    const them = included.join(' and ');
    return pending(
      serviceIncluded,
      `ControlPlane "${name}" has mode Dedicated and runs ${them} itself: remove ${them} from spec.services`,
    );
  }
  const address = addressOf(found, controlPlane);
  if (typeof address !== 'string') return address;
  const secret = secretOf(registration, controlPlane);
  if (!secret) return pending('KubeconfigPending', `ControlPlane "${name}" has no kubeconfig yet`);
  const where = `Secret "${secret.namespace}/${secret.name}"`;
  const isFitting = kubeconfig?.server !== undefined && isSameAddress(kubeconfig.server, address);
  if (!isOwn(secret, name) && !isFitting) {
    // The same message for all cases: a writer of registrations must not learn the content or the existence of Secrets.
    return pending('KubeconfigPending', `${where} with a kubeconfig for ${address} not found`);
  }
  if (!kubeconfig) return pending('KubeconfigPending', `${where} not found`);
  if (kubeconfig.problem !== undefined) {
    return pending('KubeconfigPending', `${where} is invalid: ${kubeconfig.problem}`);
  }
  const rewrite = !isFitting;
  if (rewrite && !registration.spec.endpointRef) {
    return pending(
      'KubeconfigPending',
      `the address of ControlPlane "${name}" is changing: ${where} still has ${kubeconfig.server}`,
    );
  }
  if (controlPlane.metadata.deletionTimestamp) {
    return pending('ControlPlaneNotReady', `ControlPlane "${name}" is being deleted`);
  }
  if (!isConditionTrue(controlPlane.status?.conditions, 'Ready')) {
    const ready = findCondition(controlPlane.status?.conditions, 'Ready');
    return pending(
      'ControlPlaneNotReady',
      `ControlPlane "${name}" is not ready: ${ready?.reason ?? 'no condition Ready yet'}`,
    );
  }
  return { reason: 'Resolved', address, secret, rewrite };
}

/**
 * Returns the address of the endpoint that the registration names, else the published address of the control plane. With a user's
 * kubeconfig for it the endpoint may be any cluster, except another control plane: a registration must not give access to its credentials.
 */
function addressOf({ registration, endpoint, kubeconfig }: Found, controlPlane: ControlPlane): string | Resolution {
  const { endpointRef, kubeconfigSecretRef } = registration.spec;
  if (!endpointRef) {
    const { endpoints, endpoint: only } = controlPlane.status ?? {};
    const address = endpoints?.find(({ type }) => type === 'Internal')?.url ?? only;
    return address || pending('EndpointPending', `ControlPlane "${controlPlane.metadata.name}" has no endpoint yet`);
  }
  if (!endpoint) return pending('EndpointPending', `ControlPlaneEndpoint "${endpointRef.name}" not found`);
  const ready = findCondition(endpoint.status?.conditions, 'Ready');
  if (ready && ready.status !== 'True') {
    return pending('EndpointPending', `ControlPlaneEndpoint "${endpointRef.name}" is not ready: ${ready.reason}`);
  }
  const written = writtenAddress(endpoint);
  const isForeign = written !== undefined && !isAtAnyPath(written);
  if (isForeign && kubeconfigSecretRef && isSameAddress(kubeconfig?.server, written)) return written;
  const address = resolveAddresses(endpoint, clusterPathOf(controlPlane))?.internal;
  return address ?? pending('EndpointPending', `ControlPlaneEndpoint "${endpointRef.name}" has no address yet`);
}

/** A second kube-controller-manager would work against the one of the control plane, so such a registration is never ready. */
const includedServices = ({ spec }: ControlPlaneRegistration, controlPlane: ControlPlane): string[] =>
  isServedDedicated(controlPlane) ? dedicatedServices.filter((service) => hasService(spec.services, service)) : [];

/** Reports whether it is the operator's own, which it may rewrite. */
export function isOwn({ name, namespace }: SecretReference, controlPlane: string): boolean {
  const own = ownSecretOf(controlPlane);
  return name === own.name && namespace === own.namespace;
}

const pending = (reason: PendingReason, message: string): Resolution => ({ reason, message });
