/** Flags of the services beside the API server: the operator of control planes, the controllers of all of them, a first control plane. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';
import { aggregatedServices } from '../services/aggregated/table.ts';
import type { AggregatedServiceName } from '../services/aggregated/table.ts';
import type { StoreOptions } from './store.ts';

export interface ServiceOptions {
  /** Runs the API server alone. */
  readonly isBare: boolean;
  /** Creates a first control plane in an empty store. */
  readonly makesDemo: boolean;
  /** Runs the operator of organizations and projects. */
  readonly hasProjects: boolean;
  /** Aggregated API servers that run in this process, by name. */
  readonly aggregated: readonly AggregatedServiceName[];
  /** Of several servers on one store, one runs the operator and the controllers. */
  readonly electsLeader: boolean;
}

export const serviceFlags = {
  bare: { type: 'boolean' },
  'no-demo': { type: 'boolean' },
  projects: { type: 'boolean' },
  services: { type: 'string' },
  'leader-elect': { type: 'boolean' },
} as const;

export const serviceHelp: HelpGroup = {
  title: 'Control planes',
  rows: [
    ['--bare', 'run only the API server, without the operator, the controllers and the control plane demo'],
    ['--no-demo', 'do not create the control plane "demo" at the first start'],
    ['--projects', 'serve organizations and projects: each project of an organization has a control plane'],
    [
      '--services NAME,…',
      `aggregated API servers to run for all control planes: ${Object.keys(aggregatedServices).join(', ')}`,
    ],
    [
      '--leader-elect',
      'elect one of several servers on one store to run the operator and the controllers; can be set to false (default: true with etcd)',
    ],
  ],
};

interface Values {
  readonly bare?: boolean | undefined;
  readonly 'no-demo'?: boolean | undefined;
  readonly projects?: boolean | undefined;
  readonly services?: string | undefined;
  readonly 'leader-elect'?: boolean | undefined;
}

export function serviceOptions(values: Values, { type }: StoreOptions): ServiceOptions {
  const isBare = values.bare ?? false;
  const electsLeader = values['leader-elect'] ?? type === 'etcd';
  if (isBare && values['leader-elect']) throw new UsageError('--leader-elect and --bare cannot be used together');
  if (isBare && values.projects) throw new UsageError('--projects and --bare cannot be used together');
  const aggregated = namesIn(values.services);
  if (isBare && aggregated.length > 0) throw new UsageError('--services and --bare cannot be used together');
  return {
    isBare,
    aggregated,
    // A store that other servers share has no first start.
    makesDemo: !isBare && !values['no-demo'] && type !== 'etcd',
    hasProjects: values.projects ?? false,
    electsLeader: !isBare && electsLeader,
  };
}

function namesIn(text: string | undefined): AggregatedServiceName[] {
  const names = [...new Set((text ?? '').split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const unknown = names.find((name) => !Object.hasOwn(aggregatedServices, name));
  if (unknown === undefined) return names as AggregatedServiceName[];
  const known = Object.keys(aggregatedServices).join(', ');
  throw new UsageError(`--services: unknown service "${unknown}": use one of ${known}`);
}
