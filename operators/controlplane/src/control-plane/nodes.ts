/** Nodes of a control plane: its settings, else those of its class; and the addresses and CA with which nodes join. */

import type { NodesSpec } from '../api/index.ts';
import type { TenantObject } from '../host/index.ts';
import type { Pass } from './world.ts';

/** How nodes join, if they have a separate address. */
export interface NodeAccess {
  /** URL without a path. */
  readonly endpoint: string;
  /** CA of the address and of client certificates; PEM. */
  readonly ca: string;
  readonly serviceCidr: string;
  /** Whether requests of kubelets for serving certificates are approved. */
  readonly approvesServingCertificates: boolean;
}

/** Returns the value of `spec.nodes` of the Tenant. Undefined: nodes cannot join. */
export function nodesOf({ controlPlane, class: ofClass }: Pick<Pass, 'controlPlane' | 'class'>): NodesSpec | undefined {
  const { enabled, networks } = { ...ofClass?.spec?.nodes, ...controlPlane.spec?.virtual?.nodes };
  if (!enabled) return undefined;
  return { enabled, ...(networks && networks.length > 0 ? { networks } : {}) };
}

/** Undefined: nodes are disabled, or the server has no ports for nodes. */
export function accessOf({ status }: TenantObject): NodeAccess | undefined {
  const { endpoint, caBundle, serviceCIDR: serviceCidr } = status?.nodes ?? {};
  if (endpoint === undefined || caBundle === undefined || serviceCidr === undefined) return undefined;
  return {
    endpoint,
    ca: Buffer.from(caBundle, 'base64').toString(),
    serviceCidr,
    approvesServingCertificates: true,
  };
}

/** URL and CA for joining nodes. A configured join endpoint overrides the port of the tenant. */
export function joinPlace({ nodes, isJoinConfigured, addresses, servingCa }: Pass): { server: string; ca: string } {
  return nodes && !isJoinConfigured
    ? { server: nodes.endpoint, ca: nodes.ca }
    : { server: addresses!.join, ca: servingCa! };
}
