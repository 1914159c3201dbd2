/** The flag for the addresses of kubelets. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpRow } from '@hangar/core/command-line';

const types = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

/** As kubeadm configures kube-apiserver: names of nodes usually do not resolve where this server runs. */
export const kubeletFlags = {
  'kubelet-preferred-address-types': { type: 'string', default: 'InternalIP,ExternalIP,Hostname' },
} as const;

export const kubeletHelp: readonly HelpRow[] = [
  [
    '--kubelet-preferred-address-types TYPES',
    'address types of nodes for connections to kubelets, in order of preference, separated by commas (default: InternalIP,ExternalIP,Hostname)',
  ],
];

/** Throws a UsageError. */
export function kubeletAddressTypes(text: string): readonly string[] {
  const given = text.split(',').map((type) => type.trim());
  const unknown = given.find((type) => !types.includes(type));
  if (unknown === undefined) return given;
  throw new UsageError(`--kubelet-preferred-address-types: "${unknown}" is not one of ${types.join(', ')}`);
}
