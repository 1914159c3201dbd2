/** The command line of `hangar operator`, and what it means. */

import { resolve } from 'node:path';
import {
  describeFlags,
  helpText,
  layered,
  loggingEnvironmentHelp,
  loggingFlags,
  loggingHelp,
  loggingOf,
  loggingOptions,
  parseFlags,
  UsageError,
} from '@hangar/core/command-line';
import type { Environment, FlagGroup, FlagValues, HelpGroup, LoggingOptions } from '@hangar/core/command-line';
import { readConfigFile } from '../options/config-file.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface OperatorOptions {
  /** Of the management plane, where ControlPlanes are. Absent: as kubectl and pods find theirs. */
  readonly kubeconfig: string | undefined;
  /** Of the Hangar whose tenants virtual control planes are. Absent: the management plane is one. */
  readonly tenantsKubeconfig: string | undefined;
  /** Absent: the address in the kubeconfig. */
  readonly internalUrl: string | undefined;
  readonly externalUrl: string | undefined;
  readonly installsDefinitions: boolean;
  readonly electsLeader: boolean;
  /** Of the lease. Absent: the pod's or the kubeconfig's, or kube-system. */
  readonly leaseNamespace: string | undefined;
  /** False: nowhere. */
  readonly metrics: Address | false;
  /** Absent: where the metrics are. */
  readonly health: Address | false | undefined;
  readonly logging: LoggingOptions;
}

const text = { type: 'string' } as const;

export const operatorFlags = {
  config: text,
  kubeconfig: text,
  'tenants-kubeconfig': text,
  'internal-url': text,
  'external-url': text,
  'install-definitions': { type: 'boolean' },
  'leader-elect': { type: 'boolean' },
  'leader-elect-namespace': text,
  'metrics-listen': { type: 'string', default: '127.0.0.1:8080' },
  'health-listen': text,
  ...loggingFlags,
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const groups: readonly HelpGroup[] = [
  {
    title: 'Clusters',
    rows: [
      [
        '--kubeconfig FILE',
        'kubeconfig of the management plane, which has the ControlPlanes (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)',
      ],
      ['--tenants-kubeconfig FILE', 'kubeconfig of the Hangar that serves the tenants (default: the management plane)'],
      [
        '--internal-url URL',
        'URL of that Hangar for components of the platform (default: the server of its kubeconfig)',
      ],
      ['--external-url URL', 'URL of that Hangar for users (default: the same as --internal-url)'],
      [
        '--install-definitions',
        'create or update the CustomResourceDefinitions of the operator in the management plane',
      ],
    ],
  },
  {
    title: 'Process',
    rows: [
      ['--config FILE', 'YAML file with any of these flags, without dashes; flags on the command line take precedence'],
      ['--leader-elect', 'elect a leader among several operators; the others stand by'],
      [
        '--leader-elect-namespace NAME',
        'namespace of the Lease (default: that of the pod or of the kubeconfig, or kube-system)',
      ],
      [
        '--metrics-listen HOST:PORT',
        'address that serves /metrics over plain HTTP; off: do not serve (default: 127.0.0.1:8080)',
      ],
      [
        '--health-listen HOST:PORT',
        'address that serves /livez and /readyz; off: do not serve (default: the same as --metrics-listen)',
      ],
      ['--version', 'print the version'],
      ['-h, --help', 'print this text'],
    ],
  },
  loggingHelp,
  { title: 'Environment', rows: loggingEnvironmentHelp },
];

export const operatorHelp = helpText(
  'Runs only the control plane operator, against a management cluster and a Hangar.\n\nUsage: hangar operator [options]',
  groups,
);

/** For documents: every flag, as help shows it. */
export const operatorFlagGroups: readonly FlagGroup[] = describeFlags(operatorFlags, groups);

/** Throws a UsageError, which names what is wrong. */
export function readOperatorOptions(
  args: readonly string[],
  environment: Environment = {},
): OperatorOptions | 'help' | 'version' {
  const typed = parseFlags(operatorFlags, args);
  if (typed['help']) return 'help';
  if (typed['version']) return 'version';
  const file = typed['config'] as string | undefined;
  const configured =
    file === undefined ? {} : readConfigFile(file, { flags: operatorFlags, groups: operatorFlagGroups });
  return optionsOf(layered(operatorFlags, configured, loggingOf(environment), typed));
}

function optionsOf(values: FlagValues<typeof operatorFlags>): OperatorOptions {
  const { kubeconfig, 'tenants-kubeconfig': tenants, 'health-listen': health } = values;
  const electsLeader = values['leader-elect'] ?? false;
  if (values['leader-elect-namespace'] !== undefined && !electsLeader) {
    throw new UsageError('--leader-elect-namespace requires --leader-elect');
  }
  return {
    kubeconfig: kubeconfig === undefined ? undefined : resolve(kubeconfig),
    tenantsKubeconfig: tenants === undefined ? undefined : resolve(tenants),
    internalUrl: originOf('internal-url', values['internal-url']),
    externalUrl: originOf('external-url', values['external-url']),
    installsDefinitions: values['install-definitions'] ?? false,
    electsLeader,
    leaseNamespace: values['leader-elect-namespace'],
    metrics: addressOf('metrics-listen', values['metrics-listen']),
    health: health === undefined ? undefined : addressOf('health-listen', health),
    logging: loggingOptions(values),
  };
}

function originOf(name: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  if (url?.protocol === 'https:' && url.href === `${url.origin}/`) return url.origin;
  throw new UsageError(`--${name}: "${given}" is not https://HOST or https://HOST:PORT`);
}

function addressOf(name: string, given: string): Address | false {
  if (given === 'off') return false;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(given);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--${name}: "${given}" is not HOST:PORT`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}
