/** Parses the command line of `hangar up`. Flags that are not given are read from the environment, then from the configuration file. */

import { join, resolve } from 'node:path';
import { checkPluginChoice, parseCidr } from '@hangar/server';
import type { PluginChoice } from '@hangar/server';
import type { QuarantineLimits } from '@hangar/server/watchdog';
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
import { auditFlags, auditHelp, auditOptions } from './audit.ts';
import type { AuditOptions } from './audit.ts';
import { authenticationFlags, authenticationHelp, authenticationOptions } from './authentication.ts';
import type { AuthenticationOptions } from './authentication.ts';
import { authorizationFlags, authorizationHelp, authorizationSource } from './authorization.ts';
import type { AuthorizationSource } from './authorization.ts';
import { backupFlags, backupHelp, backupOptions } from './backup.ts';
import type { BackupOptions } from './backup.ts';
import { readConfigFile } from './config-file.ts';
import { flowFlags, flowHelp, flowOptions } from './flow.ts';
import type { FlowOptions } from './flow.ts';
import { hostedFlags, hostedHelp, hostedOptions } from './hosted.ts';
import type { HostedOptions } from './hosted.ts';
import { cacheBytes, memoryFlags, memoryHelp } from './memory.ts';
import { kubeletAddressTypes, kubeletFlags, kubeletHelp } from './kubelets.ts';
import { planePortFlags, planePortHelp, planePortRange } from './plane-ports.ts';
import type { PlanePortRange } from './plane-ports.ts';
import { quarantineFlags, quarantineHelp, quarantineOptions } from './quarantine.ts';
import { serviceFlags, serviceHelp, serviceOptions } from './services.ts';
import type { ServiceOptions } from './services.ts';
import { servingFlags, servingHelp, servingOptions } from './serving.ts';
import type { ServingOptions } from './serving.ts';
import { storeFlags, storeHelp, storeOptions } from './store.ts';
import type { StoreOptions } from './store.ts';

export { UsageError };

export interface PlatformOptions {
  readonly dataDirectory: string;
  readonly host: string;
  readonly port: number;
  /** File that the administrator's kubeconfig is written to. */
  readonly kubeconfig: string;
  readonly store: StoreOptions;
  /** Lines of `token,user,uid,"group1,group2"`. */
  readonly tokenFile: string | undefined;
  readonly serving: ServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationSource;
  /** Advertised address of this server, in endpoints of the `kubernetes` service; absent: the listen address. */
  readonly advertiseAddress: string | undefined;
  /** Ports of control planes with nodes. Absent: they get none. */
  readonly planePorts: PlanePortRange | undefined;
  /** Address types of nodes for connections to kubelets, in order of preference. */
  readonly kubeletAddressTypes: readonly string[];
  /** Absent: nothing is audited. */
  readonly audit: AuditOptions | undefined;
  /** kube-apiserver's EncryptionConfiguration; absent: a generated one for the embedded store, none for others. */
  readonly encryptionConfig: string | undefined;
  /** Enabled admission plugins, besides kube-apiserver's defaults. */
  readonly admission: PluginChoice;
  /** More names and addresses for the server's certificate. */
  readonly hosts: readonly string[];
  /** Address of tenants for clients, independent of the replica; tokens name it. Absent: where the API is served. */
  readonly externalUrl: string | undefined;
  /** The same for clients on the platform's own network, shown by control planes. Absent: where the API is served. */
  readonly internalUrl: string | undefined;
  /** Networks that webhooks and APIServices may address although they are on this machine or its link. */
  readonly outboundAllow: readonly string[];
  /** kube-apiserver's EgressSelectorConfiguration; absent: direct connections. */
  readonly egressSelectorConfig: string | undefined;
  readonly flow: FlowOptions;
  /** When a tenant that blocks or crashes the server is quarantined. */
  readonly quarantine: Partial<QuarantineLimits>;
  /** Total cache size of all control planes. */
  readonly cacheBytesMax: number;
  readonly logging: LoggingOptions;
  readonly services: ServiceOptions;
  readonly hosted: HostedOptions;
  readonly backup: BackupOptions;
  /** Stop when the process that started this one exits. Absent: only if npm started it. */
  readonly exitsWithParent: boolean | undefined;
  /** Start in the background, with a log in the data directory. */
  readonly isDetached: boolean;
}

const groups: readonly HelpGroup[] = [
  {
    title: 'Basics',
    rows: [
      ['--data-dir DIR', 'data directory (default: .data)'],
      ['--config FILE', 'YAML file with any of these flags, without dashes; flags on the command line take precedence'],
      ['--kubeconfig FILE', 'file for the kubeconfig of the administrator (default: DIR/admin.kubeconfig)'],
      ['--detach', 'start in the background: return when Hangar is ready; see "hangar status", "logs" and "down"'],
      [
        '--exit-with-parent',
        'stop when the parent process exits; can be set to false (default: true if npx or npm started Hangar)',
      ],
      ['--version', 'print the version and the Kubernetes release'],
      ['-h, --help', 'print this text'],
    ],
  },
  {
    title: 'Serving',
    rows: [
      ['--listen HOST:PORT', 'address that serves the API over TLS (default: 127.0.0.1:6443; port 0: any free port)'],
      ['--port N', 'port of --listen'],
      [
        '--advertise-address IP',
        'IP address of the service kubernetes and for nodes; if --listen is 0.0.0.0, nodes use the first address of this machine that is not a loopback address (default: the address of --listen)',
      ],
      ['--host NAME', 'additional name or IP address for the serving certificate; may be repeated'],
      [
        '--external-url URL',
        'URL of the tenants for users, the same for all replicas (default: the address of --listen)',
      ],
      ['--internal-url URL', 'URL of the tenants for components of the platform (default: the address of --listen)'],
      ...planePortHelp,
      ...kubeletHelp,
      ...servingHelp,
    ],
  },
  storeHelp,
  serviceHelp,
  hostedHelp,
  backupHelp,
  authenticationHelp,
  authorizationHelp,
  {
    title: 'Admission',
    rows: [
      [
        '--enable-admission-plugins NAMES',
        'admission plugins to enable in addition to the default ones, separated by commas',
      ],
      ['--disable-admission-plugins NAMES', 'admission plugins to disable, separated by commas'],
    ],
  },
  auditHelp,
  {
    title: 'Encryption at rest',
    rows: [
      [
        '--encryption-provider-config FILE',
        'EncryptionConfiguration, as for kube-apiserver; by default the embedded store uses DIR/pki/encryption.yaml, created at the first start, and other stores encrypt nothing',
      ],
    ],
  },
  {
    title: 'Outbound',
    rows: [
      [
        '--outbound-allow-cidr CIDR',
        'allow webhooks and APIServices to connect to addresses of this network that are blocked by default: loopback, link-local and metadata addresses, and for tenants the addresses of this machine; may be repeated',
      ],
      [
        '--egress-selector-config-file FILE',
        'EgressSelectorConfiguration, as for kube-apiserver: a konnectivity-server for connections to nodes in spec.nodes.networks of tenants and to services of webhooks and APIServices of the management plane (default: direct connections)',
      ],
    ],
  },
  flowHelp,
  quarantineHelp,
  memoryHelp,
  loggingHelp,
  {
    title: 'Environment',
    rows: [
      ...loggingEnvironmentHelp,
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OpenTelemetry collector for traces (default: no traces)'],
    ],
  },
];

export const help = helpText(
  [
    'Starts Hangar: API server, store, operator and controllers for many Kubernetes control planes',
    'in one process.\n\nUsage: hangar up [options]',
  ].join('\n'),
  groups,
);

/** Throws a UsageError. */
export function readOptions(
  args: readonly string[],
  environment: Environment = {},
): PlatformOptions | 'help' | 'version' {
  const typed = parseFlags(flags, args);
  if (typed['help']) return 'help';
  if (typed['version']) return 'version';
  const file = typed['config'] as string | undefined;
  const configured = file === undefined ? {} : readConfigFile(file, { flags, groups: flagGroups });
  return optionsOf(layered(flags, configured, loggingOf(environment), typed));
}

function optionsOf(values: FlagValues<typeof flags>): PlatformOptions {
  const dataDirectory = resolve(values['data-dir']);
  const store = storeOptions(values);
  return {
    dataDirectory,
    ...listenAddress(values.listen, values.port),
    kubeconfig: resolve(values.kubeconfig ?? join(dataDirectory, 'admin.kubeconfig')),
    store,
    tokenFile: values['token-file'],
    serving: servingOptions(values),
    authentication: authenticationOptions(values),
    authorization: authorizationSource(values),
    advertiseAddress: values['advertise-address'],
    planePorts: planePortRange(values['plane-port-range']),
    kubeletAddressTypes: kubeletAddressTypes(values['kubelet-preferred-address-types']),
    audit: auditOptions(values),
    encryptionConfig: values['encryption-provider-config'],
    admission: plugins(values['enable-admission-plugins'], values['disable-admission-plugins']),
    ...reachedAt(values),
    outboundAllow: networks(values['outbound-allow-cidr'] ?? []),
    egressSelectorConfig: values['egress-selector-config-file'],
    flow: flowOptions(values),
    quarantine: quarantineOptions(values),
    cacheBytesMax: cacheBytes(values),
    logging: loggingOptions(values),
    services: serviceOptions(values, store),
    hosted: hostedOptions(values),
    backup: backupOptions(values, dataDirectory),
    exitsWithParent: values['exit-with-parent'],
    isDetached: values.detach ?? false,
  };
}

/** All flags. */
export const flags = {
  'data-dir': { type: 'string', default: '.data' },
  config: { type: 'string' },
  'exit-with-parent': { type: 'boolean' },
  detach: { type: 'boolean' },
  listen: { type: 'string', default: '127.0.0.1:6443' },
  port: { type: 'string' },
  kubeconfig: { type: 'string' },
  'advertise-address': { type: 'string' },
  host: { type: 'string', multiple: true },
  'external-url': { type: 'string' },
  'internal-url': { type: 'string' },
  'token-file': { type: 'string' },
  ...planePortFlags,
  ...kubeletFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...auditFlags,
  ...flowFlags,
  ...quarantineFlags,
  ...memoryFlags,
  'outbound-allow-cidr': { type: 'string', multiple: true },
  'egress-selector-config-file': { type: 'string' },
  'encryption-provider-config': { type: 'string' },
  'enable-admission-plugins': { type: 'string', multiple: true },
  'disable-admission-plugins': { type: 'string', multiple: true },
  ...storeFlags,
  ...serviceFlags,
  ...hostedFlags,
  ...backupFlags,
  ...loggingFlags,
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** For documents: every flag, as help shows it. */
export const flagGroups: readonly FlagGroup[] = describeFlags(flags, groups);

type Reached = Pick<PlatformOptions, 'hosts' | 'externalUrl' | 'internalUrl'>;

/** The names in the URLs are host names of the server, too. */
function reachedAt(values: Pick<FlagValues<typeof flags>, 'host' | 'external-url' | 'internal-url'>): Reached {
  const hosts = new Set(values.host);
  const origin = (name: 'external-url' | 'internal-url'): string | undefined => {
    const given = values[name];
    if (given === undefined) return undefined;
    const url = URL.parse(given);
    if (url?.protocol !== 'https:' || url.href !== `${url.origin}/`) {
      throw new UsageError(`--${name}: "${given}" is not https://HOST or https://HOST:PORT`);
    }
    hosts.add(url.hostname.replaceAll(/[[\]]/g, ''));
    return url.origin;
  };
  const [externalUrl, internalUrl] = [origin('external-url'), origin('internal-url')];
  return { hosts: [...hosts], externalUrl, internalUrl };
}

/** `instead`: a port in place of the address's. */
function listenAddress(text: string, instead: string | undefined): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(instead ?? match?.[3]);
  if (instead !== undefined && (!/^\d{1,5}$/.test(instead) || port > 65_535)) {
    throw new UsageError(`--port: "${instead}" is not a port`);
  }
  if (!match || Number(match[3]) > 65_535) throw new UsageError(`--listen: "${text}" is not HOST:PORT`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

/** An unknown plugin is an error that lists the known ones. */
function plugins(enabled: readonly string[] = [], disabled: readonly string[] = []): PluginChoice {
  const names = (lists: readonly string[]): string[] => lists.flatMap((list) => list.split(',').filter(Boolean));
  const choice = { enabled: names(enabled), disabled: names(disabled) };
  try {
    checkPluginChoice(choice);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
  return choice;
}

function networks(all: readonly string[]): readonly string[] {
  for (const text of all) {
    try {
      parseCidr(text);
    } catch (error) {
      throw new UsageError(`--outbound-allow-cidr: ${(error as Error).message}`, { cause: error });
    }
  }
  return all;
}
