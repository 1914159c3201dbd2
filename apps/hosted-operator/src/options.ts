/** The command line and the environment variables of `hangar hosted-operator`. */

import { tmpdir } from 'node:os';
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
import type { Environment, FlagGroup, FlagValues, HelpGroup, LoggingOptions } from '@hangar/core/command-line';
import type { FrontDoorSettings, HostedOperatorOptions, ServiceType } from '@hangar/hosted-operator';
import { addressOf, booleanOf, countOf, domainsOf, jsonLoggingHelp, oneOf } from './flag-values.ts';
import type { Address } from './flag-values.ts';

export interface HostedOperatorProgramOptions {
  /** Undefined: the default of kubectl and pods. */
  readonly kubeconfig: string | undefined;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly serviceType: ServiceType;
  /** Undefined: control planes cannot be exposed at the front door. */
  readonly frontDoor: FrontDoorSettings | undefined;
  readonly reach: NonNullable<HostedOperatorOptions['reach']>;
  readonly konnectivity: NonNullable<HostedOperatorOptions['konnectivity']>;
  /** Issues the certificates of control planes that set no issuer. */
  readonly issuer: 'BuiltIn' | 'CertManager';
  /** Of backups, restores and drills, if their kinds are installed. */
  readonly backups: {
    /** Undefined: backups are only stored in S3. */
    readonly folder: string | undefined;
    readonly scratchFolder: string;
    /** Undefined: restores are refused. */
    readonly image: string | undefined;
  };
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
  exposure: { type: 'string', default: 'service' },
  'front-door-domain': text,
  'front-door-port': { type: 'string', default: '6443' },
  'front-door-hosts': { type: 'string', default: 'domain' },
  'front-door-address': text,
  reach: { type: 'string', default: 'service' },
  konnectivity: { type: 'string', default: 'always' },
  issuer: { type: 'string', default: 'BuiltIn' },
  'backup-dir': text,
  'scratch-dir': text,
  'restore-image': text,
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
        '--exposure WAY',
        'exposure of control planes that set none of spec.frontDoor, spec.gateway, spec.service and spec.controlPlaneEndpoint: service or front-door (default: service)',
      ],
      [
        '--front-door-domain DOMAINS',
        'domain of the host names at the front door; further domains, separated by commas, are those of existing control planes (default: no front door)',
      ],
      ['--front-door-port PORT', 'port of the front door for clients (default: 6443)'],
      [
        '--front-door-hosts HOSTS',
        'host names that spec.frontDoor.host can have: domain, below the domain of the front door, or any (default: domain)',
      ],
      [
        '--front-door-address HOST:PORT',
        'address of the front door in kubeconfigs, if its host names are not in DNS; they are then only the TLS server name (default: the host names)',
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
    title: 'Backups, if the kinds of backup.hangar.dev are installed',
    rows: [
      [
        '--backup-dir FOLDER',
        'folder of backups with destination folder, with one folder for each namespace (default: only buckets of S3 stores)',
      ],
      [
        '--scratch-dir FOLDER',
        'folder for snapshots on their way, with space for the largest database of each concurrent backup (default: the temporary folder)',
      ],
      [
        '--restore-image IMAGE',
        'image with the program hangar, which runs in pods of restores: that of this operator (default: restores are refused)',
      ],
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
  jsonLoggingHelp,
  {
    title: 'Environment, below flags',
    rows: [
      ['LEADER_ELECTION', 'same as --leader-elect'],
      ['CONTROLLER_NAMESPACE', 'same as --leader-elect-namespace'],
      ['MAX_CONCURRENT_RECONCILES', 'same as --max-concurrent-reconciles'],
      ['WEBHOOK_CERT_DIR', 'same as --webhook-cert-dir'],
      ['HANGAR_IMAGE', 'same as --restore-image'],
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
    'restore-image': environment['HANGAR_IMAGE'],
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
    frontDoor: frontDoorOf(values),
    reach: oneOf('reach', values['reach'], ['service', 'endpoint'] as const),
    konnectivity: oneOf('konnectivity', values['konnectivity'], ['always', 'requested'] as const),
    issuer: oneOf('issuer', values['issuer'], ['BuiltIn', 'CertManager'] as const),
    backups: {
      folder: folderOf(values['backup-dir']),
      scratchFolder: folderOf(values['scratch-dir']) ?? tmpdir(),
      image: values['restore-image'],
    },
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

const folderOf = (given: string | undefined): string | undefined => (given === undefined ? undefined : resolve(given));

function frontDoorOf(values: FlagValues<typeof hostedOperatorFlags>): FrontDoorSettings | undefined {
  const domains = domainsOf('front-door-domain', values['front-door-domain']);
  const exposure = oneOf('exposure', values['exposure'], ['service', 'front-door'] as const);
  const port = countOf('front-door-port', values['front-door-port'], 65_535);
  const hosts = oneOf('front-door-hosts', values['front-door-hosts'], ['domain', 'any'] as const);
  const given = values['front-door-address'];
  const address = given === undefined ? false : addressOf('front-door-address', given);
  if (domains) return { domains, port, exposure, allowsAnyHost: hosts === 'any', ...(address ? { address } : {}) };
  if (exposure === 'front-door') throw new UsageError('--exposure front-door needs --front-door-domain');
  return undefined;
}
