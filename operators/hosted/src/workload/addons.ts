/** kube-proxy and CoreDNS with the images of kubeadm, and konnectivity agents. */

import { corednsObjects, kubeProxyObjects } from '@hangar/node-objects';
import { labels } from '../api/index.ts';
import { imageOf } from '../render/index.ts';
import type { Plane, Rendered } from '../render/index.ts';
import { konnectivityObjects } from './konnectivity.ts';
import { proxyConfiguration } from './kube-proxy-configuration.ts';
import { podSettings } from './pod-settings.ts';

/** Tag of the CoreDNS image by the minor version of Kubernetes, as kubeadm has them. */
const corednsTags: Readonly<Record<number, string>> = { 33: 'v1.12.0', 34: 'v1.12.1', 35: 'v1.13.1', 36: 'v1.14.2' };

export interface Servers {
  /** The URL that nodes join. */
  readonly server: string;
  /** The URL that konnectivity agents connect to. Absent: the control plane has no konnectivity. */
  readonly konnectivity: string | undefined;
}

export const addonsOf = (plane: Plane, servers: Servers): Rendered[] => [
  ...labelled('kube-proxy', kubeProxy(plane, servers.server)),
  ...labelled('coredns', coredns(plane)),
  ...konnectivityAddon(plane, servers),
];

export const konnectivityAddon = (plane: Plane, { konnectivity }: Servers): Rendered[] =>
  konnectivity === undefined ? [] : labelled('konnectivity', konnectivityObjects(plane, konnectivity));

const labelled = (addon: string, all: readonly Rendered[]): Rendered[] =>
  all.map(({ kind, object }) => {
    const { metadata } = object;
    const withAddon = { ...metadata.labels, [labels.addon]: addon };
    return { kind, object: { ...object, metadata: { ...metadata, labels: withAddon } } };
  });

function kubeProxy({ spec, version }: Plane, server: string): Rendered[] {
  const { disabled = false, args, ...settings } = spec.kubeProxy ?? {};
  if (disabled) return [];
  const image = imageOf(settings.image, { repository: 'kube-proxy', tag: version.tag });
  return kubeProxyObjects({ ...podSettings(settings), ...proxyConfiguration(args), image, server });
}

function coredns({ spec, version, network }: Plane): Rendered[] {
  const { coredns: settings = {} } = spec;
  const image = imageOf(settings.image, { repository: 'coredns/coredns', tag: corednsTags[version.minor]! });
  return corednsObjects({ ...podSettings(settings), args: settings.args, image, network, replicas: settings.replicas });
}
