/** The command line and the environment variables of `hangar hosted-operator`. */

import { resolve } from 'node:path';
import {
  describeFlags,
  helpText,
  layered,
  loggingFlags,
  loggingHelp,
  loggingOf,
  loggingOptions,
  parseFlags,
  UsageError,
} from '@hangar/core/command-line';
import type { Environment, FlagGroup, FlagValues, HelpGroup, LoggingOptions } from '@hangar/core/command-line';
import type { HostedOperatorOptions, ServiceType } from '@hangar/hosted-operator';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface HostedOperatorProgramOptions {
  /** Undefined: the default of kubectl and pods. */
  readonly kubeconfig: string | undefined;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly serviceType: ServiceType;
  readonly reach: NonNullable<HostedOperatorOptions['reach']>;
  readonly konnectivity: NonNullable<HostedOperatorOptions['konnectivity']>;
  /** Issues the certificates of control planes that set no issuer. */
  readonly issuer: 'BuiltIn' | 'CertManager';
  readonly electsLeader: boolean;
  /** Namespace of the Lease. Undefined: that of the pod or of the kubeconfig, or kube-system. */
  readonly controllerNamespace: string | undefined;
  readonly concurrency: number;
  /** False: not served. */
  readonly metrics: Address | false;
  readonly health: Address | false;
  /** Undefined: no webhooks. */
  readonly webhooks: (Address & { readonly certificateFolder: string }) | undefined;
  readonly logging: LoggingOptions;
}

const text = { type: 'string' } as const;

export const hostedOperatorFlags = {
  kubeconfig: text,
  namespace: text,
  'service-type': { type: 'string', default: 'LoadBalancer' },
  reach: { type: 'string', default: 'service' },
  konnectivity: { type: 'string', default: 'always' },
  issuer: { type: 'string', default: 'BuiltIn' },
  'leader-elect': text,
  'leader-elect-namespace': text,
  'max-concurrent-reconciles': { type: 'string', default: '10' },
  'metrics-listen': { type: 'string', default: '127.0.0.1:8080' },
  'health-listen': { type: 'string', default: '127.0.0.1:8081' },
  'webhook-listen': { type: 'string', default: '0.0.0.0:9443' },
  'webhook-cert-dir': text,
  ...loggingFlags,
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const groups: readonly HelpGroup[] = [
  {
    title: 'Control planes',
    rows: [
      [
        '--kubeconfig FILE',
        'kubeconfig of the management cluster (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)',
      ],
      ['--namespace NAME', 'reconcile only HostedControlPlanes of this namespace (default: all namespaces)'],
      [
        '--service-type TYPE',
        'type of the Services of API servers without spec.service.type: LoadBalancer, NodePort or ClusterIP (default: LoadBalancer)',
      ],
      [
        '--reach WAY',
        'how the operator connects to API servers: service, by the name of the Service inside the cluster, or endpoint, by spec.controlPlaneEndpoint (default: service)',
      ],
      [
        '--konnectivity POLICY',
        'which control planes reach nodes through konnectivity: always, or requested, by their spec (default: always)',
      ],
      [
        '--issuer ISSUER',
        'issuer of control planes without spec.certificates.issuer: BuiltIn, or CertManager if cert-manager is installed (default: BuiltIn)',
      ],
      ['--max-concurrent-reconciles N', 'maximum number of concurrent reconciles (default: 10)'],
    ],
  },
  {
    title: 'Process',
    rows: [
      ['--leader-elect BOOL', 'elect a leader among several operators; the others stand by (default: true)'],
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
        'address that serves /healthz, /livez and /readyz; off: do not serve (default: 127.0.0.1:8081)',
      ],
      [
        '--webhook-cert-dir FOLDER',
        'folder with tls.crt and tls.key of the validating webhook, read again when they change (default: no webhook)',
      ],
      ['--webhook-listen HOST:PORT', 'address of the validating webhook (default: 0.0.0.0:9443)'],
      ['--version', 'print the version'],
      ['-h, --help', 'print this text'],
    ],
  },
  {
    ...loggingHelp,
    rows: loggingHelp.rows.map(([flag, meaning]) =>
      flag.startsWith('--log-format') ? [flag, 'json or text, to standard error (default: json)'] : [flag, meaning],
    ),
  },
  {
    title: 'Environment, below flags',
    rows: [
      ['LEADER_ELECTION', 'same as --leader-elect'],
      ['CONTROLLER_NAMESPACE', 'same as --leader-elect-namespace'],
      ['MAX_CONCURRENT_RECONCILES', 'same as --max-concurrent-reconciles'],
      ['WEBHOOK_CERT_DIR', 'same as --webhook-cert-dir'],
      ['LOG_LEVEL, LOG_FORMAT', 'same as --log-level and --log-format'],
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector of traces, by OTLP over HTTP: http://HOST:4318'],
    ],
  },
];

export const hostedOperatorHelp = helpText(
  'Runs the operator of HostedControlPlanes against a management cluster.\n\nUsage: hangar hosted-operator [options]',
  groups,
);

/** For documents: every flag, as help shows it. */
export const hostedOperatorFlagGroups: readonly FlagGroup[] = describeFlags(hostedOperatorFlags, groups);

/** Throws a UsageError. */
export function readOptions(
  args: readonly string[],
  environment: Environment = {},
): HostedOperatorProgramOptions | 'help' | 'version' {
  const typed = parseFlags(hostedOperatorFlags, args);
  if (typed['help']) return 'help';
  if (typed['version']) return 'version';
  return optionsOf(layered(hostedOperatorFlags, environmentFlags(environment), loggingOf(environment), typed));
}

/** An empty variable counts as unset. */
function environmentFlags(environment: Environment): Record<string, string> {
  const flags = {
    'leader-elect': environment['LEADER_ELECTION'],
    'leader-elect-namespace': environment['CONTROLLER_NAMESPACE'],
    'max-concurrent-reconciles': environment['MAX_CONCURRENT_RECONCILES'],
    'webhook-cert-dir': environment['WEBHOOK_CERT_DIR'],
  };
  return Object.fromEntries(Object.entries(flags).flatMap(([flag, value]) => (value ? [[flag, value]] : [])));
}

function optionsOf(values: FlagValues<typeof hostedOperatorFlags>): HostedOperatorProgramOptions {
  const { kubeconfig, namespace, 'webhook-cert-dir': certificateFolder } = values;
  const webhooks = addressOf('webhook-listen', values['webhook-listen']);
  const logging = loggingOptions(values);
  return {
    kubeconfig: kubeconfig === undefined ? undefined : resolve(kubeconfig),
    // Cluster API passes an empty namespace for all namespaces.
    namespace: namespace || undefined,
    serviceType: oneOf('service-type', values['service-type'], ['LoadBalancer', 'NodePort', 'ClusterIP'] as const),
    reach: oneOf('reach', values['reach'], ['service', 'endpoint'] as const),
    konnectivity: oneOf('konnectivity', values['konnectivity'], ['always', 'requested'] as const),
    issuer: oneOf('issuer', values['issuer'], ['BuiltIn', 'CertManager'] as const),
    electsLeader: booleanOf('leader-elect', values['leader-elect'] ?? 'true'),
    controllerNamespace: values['leader-elect-namespace'],
    concurrency: countOf('max-concurrent-reconciles', values['max-concurrent-reconciles']),
    metrics: addressOf('metrics-listen', values['metrics-listen']),
    health: addressOf('health-listen', values['health-listen']),
    webhooks:
      certificateFolder === undefined || webhooks === false
        ? undefined
        : { ...webhooks, certificateFolder: resolve(certificateFolder) },
    logging: { ...logging, format: logging.format ?? 'json' },
  };
}

function oneOf<T extends string>(name: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given);
  if (found === undefined) throw new UsageError(`--${name}: "${given}" is not one of ${known.join(', ')}`);
  return found;
}

/** The words that Go programs accept. */
function booleanOf(name: string, given: string): boolean {
  if (/^(1|t|true)$/i.test(given)) return true;
  if (/^(0|f|false)$/i.test(given)) return false;
  throw new UsageError(`--${name}: "${given}" is neither true nor false`);
}

function countOf(name: string, given: string): number {
  if (/^[1-9]\d{0,3}$/.test(given)) return Number(given);
  throw new UsageError(`--${name}: "${given}" is not a number from 1 to 9999`);
}

function addressOf(name: string, given: string): Address | false {
  if (given === 'off') return false;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(given);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--${name}: "${given}" is not HOST:PORT`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}
