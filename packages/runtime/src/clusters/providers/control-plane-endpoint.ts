/**
 * Provider with one cluster for each ControlPlaneEndpoint: its address, with the credentials of the secret that a template names.
 *
 *   address     from status, otherwise from spec. External ones fall back to the internal one, joining ones to the external one
 *   gate        an address, a kubeconfig, and no condition Ready that is not True
 */

import type { ClusterConfig } from '@hangar/client';
import { RuntimeError } from '../../errors.ts';
import type { Provider } from '../contract.ts';
import { withAddress } from './address.ts';
import { addressOf, ControlPlaneEndpoint } from './control-plane-kinds.ts';
import type { AddressType, EndpointObject } from './control-plane-kinds.ts';
import { informedProvider } from './informed.ts';
import type { ManagementOptions } from './informed.ts';
import { conditionOf, Secret } from './kinds.ts';
import { foundByKubeconfig, kubeconfigIn, onlyKubeconfig, secretText } from './kubeconfig.ts';
import type { ClusterOptions } from './open-cluster.ts';
import { SecretLinks } from './secret-links.ts';
import { secretTemplate } from './secret-template.ts';

/** Options of `controlPlaneEndpoint`. */
export interface ControlPlaneEndpointOptions extends ManagementOptions {
  /** Label selector of ControlPlaneEndpoints. */
  readonly labelSelector?: string;
  /** The only namespace whose Secrets are read. Absent: the namespace of each control plane. */
  readonly namespace?: string;
  /** Key of the kubeconfig Secret, with `{name}` and `{namespace}`. Absent: `{namespace}/controlplane-{name}-kubeconfig`. */
  readonly secretTemplate?: string;
  /** Key in the Secret. Absent: `kubeconfig`, or `kubeconfig-external` for external addresses. */
  readonly key?: string;
  /** Address to connect to. Absent: `internal`. */
  readonly address?: AddressType;
  readonly clusterOptions?: ClusterOptions;
}

/** Returns a provider of the control planes of ControlPlaneEndpoints. */
export function controlPlaneEndpoint(options: ControlPlaneEndpointOptions): Provider {
  const { labelSelector, namespace, address = 'internal', clusterOptions = {} } = options;
  const { key = address === 'internal' ? 'kubeconfig' : 'kubeconfig-external' } = options;
  const secretOf = secretTemplate(options.secretTemplate, namespace);
  if (!['internal', 'external', 'join'].includes(address)) {
    throw new RuntimeError('InvalidOptions', `unknown address type "${String(address)}"`);
  }
  return informedProvider('control-plane-endpoint', options, ({ cache, announcements, follow }) => {
    const endpoints = cache.informer(ControlPlaneEndpoint, labelSelector ? { labelSelector } : {});
    const within = namespace === undefined ? {} : { namespace };
    const secrets = cache.informer(Secret, { ...within, transform: onlyKubeconfig(key) });
    const links = new SecretLinks();
    const refresh = (name: string): void => {
      const endpoint = endpoints.get({ name });
      links.set(name, endpoint && secretOf(name));
      const secret = secrets.get(secretOf(name));
      const kubeconfig = kubeconfigIn(secret, key);
      const server = endpoint && addressOf(endpoint, address);
      if (!endpoint || !secret || kubeconfig === undefined || !server || !isReady(endpoint)) {
        return announcements.tell(name, undefined);
      }
      const { labels = {}, uid: identity = '' } = endpoint.metadata;
      const adjust = (config: ClusterConfig): ClusterConfig => withAddress(config, server);
      const found = { name, labels, kubeconfig, identity, source: secretText(secret), adjust };
      announcements.tellWhenFound(name, foundByKubeconfig(found, clusterOptions));
    };
    follow(endpoints, ({ metadata }) => refresh(metadata.name!));
    follow(secrets, ({ metadata }) => {
      for (const name of links.clustersOf({ namespace: metadata.namespace, name: metadata.name! })) refresh(name);
    });
  });
}

const isReady = ({ status }: EndpointObject): boolean =>
  (conditionOf(status?.conditions, 'Ready') ?? 'True') === 'True';
