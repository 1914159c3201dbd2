/** Flags of hosted control planes: real components that run as processes of this machine. */

import { resolve } from 'node:path';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export interface HostedOptions {
  /** Absent: true if the data directory has hosted control planes. */
  readonly isOn: boolean | undefined;
  /** Folders with programs, searched before PATH. */
  readonly binDirs: readonly string[];
  /** Absent: hosted control planes have separate ports. */
  readonly frontDoor: FrontDoorListen | undefined;
}

/** The address and the domain of the front door. */
export interface FrontDoorListen {
  readonly host: string;
  readonly port: number;
  readonly domain: string;
}

export const hostedFlags = {
  hosted: { type: 'boolean' },
  'hosted-bin-dirs': { type: 'string' },
  'front-door-listen': { type: 'string' },
  'front-door-domain': { type: 'string', default: 'hosted.localhost' },
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
    [
      '--front-door-listen HOST:PORT',
      'serve all new hosted control planes at this address, by their TLS server name (default: a port of 127.0.0.1 for each)',
    ],
    [
      '--front-door-domain DOMAIN',
      'domain of the host names at the front door; names below localhost need no DNS (default: hosted.localhost)',
    ],
  ],
};

interface Values {
  readonly bare?: boolean | undefined;
  readonly hosted?: boolean | undefined;
  readonly 'hosted-bin-dirs'?: string | undefined;
  readonly 'front-door-listen'?: string | undefined;
  readonly 'front-door-domain'?: string | undefined;
}

/** Throws a UsageError. */
export function hostedOptions(values: Values): HostedOptions {
  if (values.bare && values.hosted) throw new UsageError('--hosted and --bare cannot be used together');
  const folders = (values['hosted-bin-dirs'] ?? '').split(',').filter((folder) => folder !== '');
  const binDirs = folders.map((folder) => resolve(folder));
  return { isOn: values.bare ? false : values.hosted, binDirs, frontDoor: frontDoorListen(values) };
}

const domainPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

function frontDoorListen(values: Values): FrontDoorListen | undefined {
  const { 'front-door-listen': listen, 'front-door-domain': domain = '' } = values;
  if (listen === undefined) return undefined;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):([1-9]\d{0,4})$/.exec(listen);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--front-door-listen: "${listen}" is not HOST:PORT`);
  if (domain.length > 200 || !domainPattern.test(domain)) {
    throw new UsageError(`--front-door-domain: "${domain}" is not a domain`);
  }
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port, domain };
}
