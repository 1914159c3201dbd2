/** Flags of hosted control planes: real components that run as processes of this machine. */

import { resolve } from 'node:path';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export interface HostedOptions {
  /** Absent: true if the data directory has hosted control planes. */
  readonly isOn: boolean | undefined;
  /** Folders with programs, searched before PATH. */
  readonly binDirs: readonly string[];
}

export const hostedFlags = {
  hosted: { type: 'boolean' },
  'hosted-bin-dirs': { type: 'string' },
} as const;

export const hostedHelp: HelpGroup = {
  title: 'Hosted control planes',
  rows: [
    [
      '--hosted',
      'run HostedControlPlanes: etcd, kube-apiserver, kube-controller-manager and kube-scheduler of each as processes of this machine; can be set to false (default: true if they exist in DIR/hosted)',
    ],
    [
      '--hosted-bin-dirs DIRS',
      'folders to search for the programs of hosted control planes before PATH, separated by commas',
    ],
  ],
};

interface Values {
  readonly bare?: boolean | undefined;
  readonly hosted?: boolean | undefined;
  readonly 'hosted-bin-dirs'?: string | undefined;
}

/** Throws a UsageError. */
export function hostedOptions(values: Values): HostedOptions {
  if (values.bare && values.hosted) throw new UsageError('--hosted and --bare cannot be used together');
  const folders = (values['hosted-bin-dirs'] ?? '').split(',').filter((folder) => folder !== '');
  return { isOn: values.bare ? false : values.hosted, binDirs: folders.map((folder) => resolve(folder)) };
}
