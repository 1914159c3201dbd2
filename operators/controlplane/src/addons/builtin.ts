/** The built-in addons. Some depend on settings of the class and on the nodes of the control plane. */

import { corednsObjects, konnectivityAgentObjects, kubeProxyObjects } from '@hangar/node-objects';
import type { Rendered } from '@hangar/node-objects';
import type { ControlPlaneClassSpec } from '../api/index.ts';
import { clusterNetwork } from '../join/network.ts';
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
    return built(corednsObjects({ image, network: clusterNetwork(nodes.serviceCidr) }));
  },
  'kube-proxy': ({ images, nodes, kubeProxy }) => {
    if (!nodes) return withoutNodes('kube-proxy');
    const image = images?.kubeProxy;
    if (image === undefined) return withoutImage('kube-proxy', 'kubeProxy');
    return built(kubeProxyObjects({ image, server: nodes.endpoint, configuration: { ...kubeProxy } }));
  },
  'konnectivity-agent': ({ images, nodes }) => {
    if (!nodes) return withoutNodes('konnectivity-agent');
    const image = images?.konnectivityAgent;
    if (image === undefined) return withoutImage('konnectivity-agent', 'konnectivityAgent');
    return built(konnectivityAgentObjects({ image, server: nodes.endpoint }));
  },
};

/** JSON is YAML. */
const built = (all: readonly Rendered[]): Built => ({
  text: all.map(({ object }) => JSON.stringify(object)).join('\n---\n'),
});

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
