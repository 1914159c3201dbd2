/** The built-in addons. Some depend on settings of the class and on the nodes of the control plane. */

import type { ControlPlaneClassSpec } from '../api/index.ts';
import { dnsAddress } from '../join/dns-address.ts';
import { corednsManifests } from './coredns.ts';
import { konnectivityAgentManifests } from './konnectivity-agent.ts';
import { kubeProxyManifests } from './kube-proxy.ts';
import { starter } from './starter.ts';

export interface AddonSettings {
  readonly images: ControlPlaneClassSpec['images'];
  readonly kubeProxy?: ControlPlaneClassSpec['kubeProxy'];
  /** Absent: nodes cannot join the control plane through a port. */
  readonly nodes: { readonly endpoint: string; readonly serviceCidr: string } | undefined;
}

/** Manifests, or why there are none. */
export type Built = { readonly text: string } | { readonly problem: string };

const builders: Readonly<Record<string, (settings: AddonSettings) => Built>> = {
  starter: () => ({ text: starter }),
  coredns: ({ images, nodes }) => {
    if (!nodes) return withoutNodes('coredns');
    const image = images?.coredns;
    if (image === undefined) return withoutImage('coredns', 'coredns');
    return { text: corednsManifests({ image, dnsAddress: dnsAddress(nodes.serviceCidr) }) };
  },
  'kube-proxy': ({ images, nodes, kubeProxy }) => {
    if (!nodes) return withoutNodes('kube-proxy');
    const image = images?.kubeProxy;
    if (image === undefined) return withoutImage('kube-proxy', 'kubeProxy');
    return { text: kubeProxyManifests({ image, server: nodes.endpoint, settings: kubeProxy }) };
  },
  'konnectivity-agent': ({ images, nodes }) => {
    if (!nodes) return withoutNodes('konnectivity-agent');
    const image = images?.konnectivityAgent;
    if (image === undefined) return withoutImage('konnectivity-agent', 'konnectivityAgent');
    return { text: konnectivityAgentManifests({ image, server: nodes.endpoint }) };
  },
};

const withoutNodes = (addon: string): Built => ({
  problem: `addon "${addon}" requires nodes: set spec.virtual.nodes.enabled of the ControlPlane, or spec.nodes.enabled of its class`,
});

const withoutImage = (addon: string, field: string): Built => ({
  problem: `addon "${addon}" requires an image: set spec.images.${field} of the ControlPlaneClass`,
});

export const builtinAddons: readonly string[] = Object.keys(builders);

/** Undefined: there is no built-in addon of this name. */
export const builtinAddon = (addon: string, settings: AddonSettings): Built | undefined =>
  Object.hasOwn(builders, addon) ? builders[addon]!(settings) : undefined;
