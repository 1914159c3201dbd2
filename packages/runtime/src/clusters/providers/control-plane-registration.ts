/**
 * Provider of the control planes that are registered for a service. A registration has the address of its control plane and the name of its
 * kubeconfig Secret, once its controller has resolved them.
 *
 *   cluster     the control plane, by its name; of several registrations of one, the oldest that is ready counts
 *   gate        status.ready, no condition Ready that is not True, a kubeconfig, one of the selected services
 *   address     status.resolvedEndpoint, which overrides the kubeconfig
 */

import type { ClusterConfig } from '@hangar/client';
import type { ClusterName } from '../../cluster.ts';
import type { Provider } from '../contract.ts';
import { withAddress } from './address.ts';
import { byAge, controlPlaneOf, ControlPlaneRegistration, resolvedSecretOf } from './control-plane-kinds.ts';
import type { RegistrationObject } from './control-plane-kinds.ts';
import { informedProvider } from './informed.ts';
import type { ManagementOptions } from './informed.ts';
import { conditionOf, Secret } from './kinds.ts';
import { foundByKubeconfig, kubeconfigIn, onlyKubeconfig, secretText } from './kubeconfig.ts';
import type { ClusterOptions } from './open-cluster.ts';
import { SecretLinks } from './secret-links.ts';

/** Options of `controlPlaneRegistration`. */
export interface ControlPlaneRegistrationOptions extends ManagementOptions {
  /** Selects registrations with at least one of these services, case-insensitive. Absent: all registrations. */
  readonly services?: readonly string[];
  readonly mode?: 'Shared' | 'Dedicated';
  readonly labelSelector?: string;
  /** The only namespace whose Secrets are read. Absent: all namespaces. */
  readonly namespace?: string;
  /** Key in the Secret. Absent: `kubeconfig`. */
  readonly key?: string;
  readonly clusterOptions?: ClusterOptions;
}

const byControlPlane = 'control-plane';

/** Returns a provider of the control planes of ControlPlaneRegistrations. */
export function controlPlaneRegistration(options: ControlPlaneRegistrationOptions): Provider {
  const { labelSelector, namespace, key = 'kubeconfig', clusterOptions = {} } = options;
  return informedProvider('control-plane-registration', options, ({ cache, announcements, follow }) => {
    cache.addIndex(ControlPlaneRegistration, byControlPlane, (registration) => [controlPlaneOf(registration)]);
    const registrations = cache.informer(ControlPlaneRegistration, labelSelector ? { labelSelector } : {});
    const within = namespace === undefined ? {} : { namespace };
    const secrets = cache.informer(Secret, { ...within, transform: onlyKubeconfig(key) });
    const links = new SecretLinks();
    const refresh = (name: ClusterName): void => {
      const all = [...registrations.byIndex(byControlPlane, name)];
      const registration = all.filter((one) => isWanted(one, options)).sort(byAge)[0];
      const reference = registration && resolvedSecretOf(registration);
      links.set(name, reference);
      const secret = reference && secrets.get(reference);
      const kubeconfig = kubeconfigIn(secret, key);
      if (!registration || !secret || kubeconfig === undefined) return announcements.tell(name, undefined);
      const { labels = {}, uid: identity = '' } = registration.metadata;
      const server = registration.status?.resolvedEndpoint;
      const adjust = (config: ClusterConfig): ClusterConfig => (server ? withAddress(config, server) : config);
      const found = { name, labels, kubeconfig, identity, source: secretText(secret), adjust };
      announcements.tellWhenFound(name, foundByKubeconfig(found, clusterOptions));
    };
    // A registration that changes its control plane is removed from the previous one.
    const controlPlanes = new Map<string, ClusterName>();
    follow(registrations, (registration) => {
      const before = controlPlanes.get(registration.metadata.name!);
      const now = registrations.get({ name: registration.metadata.name! });
      if (now) controlPlanes.set(now.metadata.name!, controlPlaneOf(now));
      else controlPlanes.delete(registration.metadata.name!);
      if (before !== undefined && before !== (now && controlPlaneOf(now))) refresh(before);
      if (now) refresh(controlPlaneOf(now));
    });
    follow(secrets, ({ metadata }) => {
      for (const name of links.clustersOf({ namespace: metadata.namespace, name: metadata.name! })) refresh(name);
    });
  });
}

function isWanted(
  registration: RegistrationObject,
  { services, mode }: Pick<ControlPlaneRegistrationOptions, 'services' | 'mode'>,
): boolean {
  const { spec, status } = registration;
  if (controlPlaneOf(registration) === '' || status?.ready !== true) return false;
  if ((conditionOf(status.conditions, 'Ready') ?? 'True') !== 'True') return false;
  if (mode !== undefined && (spec?.mode ?? 'Shared') !== mode) return false;
  const registered = new Set((spec?.services ?? []).map((service) => service.toLowerCase()));
  return services === undefined || services.some((service) => registered.has(service.toLowerCase()));
}
