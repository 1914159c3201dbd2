/**
 * Labels, annotations and derived names of this API group. A derived name is always valid: one that is too long, or that has dots where
 * none are allowed, is shortened and gets a hash.
 */

import { createHash } from 'node:crypto';
import { servicesAnnotation } from '@hangar/runtime/clusters';
import type { ControlPlane } from './control-plane.ts';

export const group = 'controlplane.kplane.dev';
export const apiVersion = `${group}/v1alpha1`;

/** On ControlPlanes: the tenant goes first. */
export const finalizer = `${group}/finalizer`;

export const labels = {
  /** The control plane that an object is about: `labelValue(name)`. */
  name: `${group}/name`,
  /** On endpoints: the provider that writes the status. */
  endpointProvider: `${group}/endpoint-provider`,
  /** On ConfigMaps with manifests: the addon. */
  addon: `${group}/addon`,
  /** On Secrets: it holds the kubeconfig of a control plane, or of a registration. Only these are cached. */
  kubeconfig: `${group}/kubeconfig`,
  /** On Secrets in `kplane-system`: it records the retained data of a deleted dedicated control plane of this name. */
  retained: `${group}/retained`,
} as const;

export const annotations = {
  /** On Tenants: the control plane that it was made for. */
  name: `${group}/name`,
  uid: `${group}/uid`,
  /** On Tenants: the registration on whose behalf the operator left the tenant to others, or `endpoint/NAME`. */
  controllersBy: `${group}/controllers-by`,
  /** On endpoints of the built-in provider: the host name that was allocated, and that the tenant answers to. */
  hostname: `${group}/hostname`,
  /** On endpoints: services that run for the control plane of the endpoint, separated by commas. Absent: controllers. */
  services: servicesAnnotation,
  /** On management namespaces: `Dedicated` if the control plane was created with this mode. Absent: Virtual. */
  mode: `${group}/mode`,
  /** On HostedControlPlanes: the time since when it is kept for the next control plane of its name. */
  retained: `${group}/retained-since`,
  /** On ControlPlanes: `true` if promotion must not measure it or change its mode. */
  promotionDisabled: `${group}/promotion-disabled`,
  /** On ControlPlanes: the reason for which promotion made it dedicated. Absent: a user set the mode. */
  promotedFor: `${group}/promoted-for`,
  /** On Secrets: the registration that it was made for. */
  registration: `${group}/registration`,
} as const;

/** On Tenants, of the tenants' own group: the essential controllers leave it alone, a real controller manager has it. */
export const controllersAnnotation = 'tenancy.hangar.dev/controllers';

/** On registrations for `controllers`, and on endpoints: present, with any status, while a controller manager serves the control plane. */
export const controllersReady = 'ControllersReady';

/** On registrations for `scheduler`, and on endpoints: present while a controller manager runs a scheduler for the control plane. */
export const schedulerReady = 'SchedulerReady';

/** The reason of `ControllersReady` when a controller manager does not support the requested engine, and runs no controllers. */
export const engineNotSupported = 'EngineNotSupported';

/** The provider of endpoints that is built in. */
export const builtinProvider = 'hangar';

/** Returns the cluster path of a virtual control plane. */
export const clusterPathOf = ({ metadata, spec }: Pick<ControlPlane, 'metadata' | 'spec'>): string =>
  spec?.virtual?.clusterPath ?? metadata.name!;

/** Below the address of the API server. */
export const pathOf = (clusterPath: string): string => `/clusters/${clusterPath}/control-plane`;

/** Returns the namespace of the management plane that holds the objects of a control plane. */
export function managementNamespace(controlPlane: string): string {
  const whole = `kplane-cp-${controlPlane}`;
  return whole.length <= 63 && !whole.includes('.') ? whole : shortened(whole).replaceAll('.', '-');
}

/** The Secret with a control plane's kubeconfigs, in its management namespace. */
export const kubeconfigSecretName = (controlPlane: string): string => secretName('controlplane', controlPlane);

/** The Secret with the kubeconfig that was made for a registration, in the management namespace of its control plane. */
export const registrationSecretName = (registration: string): string => secretName('registration', registration);

/** The Secret in `kplane-system` that records the retained data of a deleted dedicated control plane. */
export const retainedRecordName = (controlPlane: string): string => `retained-${controlPlane}`;

/** The TLSRoute of a control plane's host name, where its API server is. */
export function routeName(controlPlane: string): string {
  const whole = `controlplane-${controlPlane}`;
  return whole.length <= 253 ? whole : `controlplane-${shortened(controlPlane)}`;
}

/** A name as the value of a label. */
export const labelValue = (name: string): string => (name.length <= 63 ? name : shortened(name));

function secretName(prefix: string, name: string): string {
  const whole = `${prefix}-${name}-kubeconfig`;
  return whole.length <= 253 ? whole : `${prefix}-${shortened(name)}-kubeconfig`;
}

/** 49 characters: the beginning, and a hash of all of it. */
function shortened(text: string): string {
  return `${text.slice(0, 40)}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}
