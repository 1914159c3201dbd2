/** The command line of `hangar front-door`. */

import { resolve } from 'node:path';
import {
  describeFlags,
  helpText,
  layered,
  loggingFlags,
  loggingOf,
  loggingOptions,
  parseFlags,
  UsageError,
} from '@hangar/core/command-line';
import type { Environment, FlagGroup, FlagValues, HelpGroup } from '@hangar/core/command-line';
import type { FrontDoorManagerOptions } from '@hangar/hosted-operator';
import { addressOf, countOf, domainsOf, jsonLoggingHelp, oneOf } from '../flag-values.ts';
import type { Address } from '../flag-values.ts';
import type { CommonOptions } from '../program.ts';

export interface FrontDoorProgramOptions
  extends
    CommonOptions,
    Pick<
      FrontDoorManagerOptions,
      'namespace' | 'domains' | 'limits' | 'handshakeTimeoutMs' | 'trustedProxies' | 'backendProxyProtocol' | 'drainMs'
    > {
  readonly listen: Address;
  /** False: not served. */
  readonly metrics: Address | false;
  readonly health: Address | false;
}

const text = { type: 'string' } as const;
const withDefault = (value: string) => ({ type: 'string', default: value }) as const;

export const frontDoorFlags = {
  kubeconfig: text,
  namespace: text,
  domain: text,
  listen: withDefault('0.0.0.0:6443'),
  'max-connections': withDefault('16384'),
  'max-connections-per-control-plane': withDefault('8192'),
  'max-connections-per-source': withDefault('4096'),
  'max-pending-handshakes': withDefault('2048'),
  'handshake-timeout': withDefault('10'),
  'drain-timeout': withDefault('30'),
  'trusted-proxies': text,
  'backend-proxy-protocol': withDefault('off'),
  'metrics-listen': withDefault('127.0.0.1:8080'),
  'health-listen': withDefault('127.0.0.1:8081'),
  ...loggingFlags,
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const groups: readonly HelpGroup[] = [
  {
    title: 'Routes',
    rows: [
      [
        '--kubeconfig FILE',
        'kubeconfig of the management cluster (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)',
      ],
      ['--namespace NAME', 'route only to control planes of this namespace (default: all namespaces)'],
      ['--domain DOMAINS', 'route only host names below these domains, separated by commas (default: all)'],
    ],
  },
  {
    title: 'Connections',
    rows: [
      ['--listen HOST:PORT', 'address for clients (default: 0.0.0.0:6443)'],
      ['--max-connections N', 'maximum number of connections (default: 16384)'],
      ['--max-connections-per-control-plane N', 'maximum number of connections of a control plane (default: 8192)'],
      [
        '--max-connections-per-source N',
        'maximum number of connections of an IPv4 address or an IPv6 /64 network (default: 4096)',
      ],
      [
        '--max-pending-handshakes N',
        'maximum number of connections without a complete ClientHello; above it, the oldest are cut (default: 2048)',
      ],
      ['--handshake-timeout SECONDS', 'maximum time for a ClientHello (default: 10)'],
      ['--drain-timeout SECONDS', 'time that open connections have to end after SIGTERM (default: 30)'],
      [
        '--trusted-proxies NETWORKS',
        'networks of load balancers that send a PROXY protocol header, separated by commas (default: none)',
      ],
      ['--backend-proxy-protocol VERSION', 'PROXY protocol header for backends: v1, v2 or off (default: off)'],
    ],
  },
  {
    title: 'Process',
    rows: [
      [
        '--metrics-listen HOST:PORT',
        'address that serves /metrics over plain HTTP; off: do not serve (default: 127.0.0.1:8080)',
      ],
      [
        '--health-listen HOST:PORT',
        'address that serves /healthz, /livez and /readyz; off: do not serve (default: 127.0.0.1:8081)',
      ],
      ['--version', 'print the version'],
      ['-h, --help', 'print this text'],
    ],
  },
  jsonLoggingHelp,
];

export const frontDoorHelp = helpText(
  'Runs the front door of HostedControlPlanes: one address that routes TLS connections by their server name.\n\nUsage: hangar front-door [options]',
  groups,
);

/** For documents: every flag, as help shows it. */
export const frontDoorFlagGroups: readonly FlagGroup[] = describeFlags(frontDoorFlags, groups);

/** Throws a UsageError. */
export function readFrontDoorOptions(
  args: readonly string[],
  environment: Environment = {},
): FrontDoorProgramOptions | 'help' | 'version' {
  const typed = parseFlags(frontDoorFlags, args);
  if (typed['help']) return 'help';
  if (typed['version']) return 'version';
  return optionsOf(layered(frontDoorFlags, {}, loggingOf(environment), typed));
}

function optionsOf(values: FlagValues<typeof frontDoorFlags>): FrontDoorProgramOptions {
  const { kubeconfig, namespace } = values;
  const listen = addressOf('listen', values['listen']);
  if (listen === false) throw new UsageError('--listen: "off" is not HOST:PORT');
  const count = (name: keyof typeof frontDoorFlags, max: number): number => countOf(name, String(values[name]), max);
  const logging = loggingOptions(values);
  const version = oneOf('backend-proxy-protocol', values['backend-proxy-protocol'], ['v1', 'v2', 'off'] as const);
  const handshakesMax = count('max-pending-handshakes', 1_000_000);
  return {
    kubeconfig: kubeconfig === undefined ? undefined : resolve(kubeconfig),
    namespace: namespace || undefined,
    domains: domainsOf('domain', values['domain']),
    listen,
    limits: {
      connectionsMax: count('max-connections', 1_000_000),
      connectionsPerRouteMax: count('max-connections-per-control-plane', 1_000_000),
      connectionsPerSourceMax: count('max-connections-per-source', 1_000_000),
      handshakesMax,
      // One source leaves three quarters to the others.
      handshakesPerSourceMax: Math.ceil(handshakesMax / 4),
    },
    handshakeTimeoutMs: count('handshake-timeout', 3_600) * 1_000,
    drainMs: count('drain-timeout', 86_400) * 1_000,
    trustedProxies: (values['trusted-proxies'] ?? '').split(',').filter((network) => network !== ''),
    backendProxyProtocol: version === 'off' ? undefined : version,
    metrics: addressOf('metrics-listen', values['metrics-listen']),
    health: addressOf('health-listen', values['health-listen']),
    logging: { ...logging, format: logging.format ?? 'json' },
  };
}
