/** The command line, and what it means. */

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkPluginChoice, parseCidr } from '@hangar/server';
import type { PluginChoice } from '@hangar/server';
import { auditFlags, auditHelp, auditOptions } from './audit-options.ts';
import type { AuditOptions } from './audit-options.ts';
import { authenticationFlags, authenticationHelp, authenticationOptions } from './authentication-options.ts';
import type { AuthenticationOptions } from './authentication-options.ts';
import { authorizationFlags, authorizationHelp, authorizationSource } from './authorization-options.ts';
import type { AuthorizationSource } from './authorization-options.ts';
import { flowFlags, flowHelp, flowOptions } from './flow-options.ts';
import type { FlowOptions } from './flow-options.ts';
import { helpText } from './help.ts';
import { cacheBytes, memoryFlags, memoryHelp } from './memory-options.ts';
import { servingFlags, servingHelp, servingOptions } from './serving-options.ts';
import type { ServingOptions } from './serving-options.ts';
import { storeFlags, storeHelp, storeOptions } from './store-options.ts';
import type { StoreOptions } from './store-options.ts';
import { UsageError } from './usage-error.ts';

export { UsageError };

export interface PlatformOptions {
  readonly dataDirectory: string;
  readonly host: string;
  readonly port: number;
  /** Where the administrator's kubeconfig is written. */
  readonly kubeconfig: string;
  readonly store: StoreOptions;
  /** Lines of `token,user,uid,"group1,group2"`. */
  readonly tokenFile: string | undefined;
  readonly serving: ServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationSource;
  /** Where others reach this server, as endpoints of the `kubernetes` service tell; absent: where it listens. */
  readonly advertiseAddress: string | undefined;
  /** Absent: nothing is audited. */
  readonly audit: AuditOptions | undefined;
  /** kube-apiserver's EncryptionConfiguration; absent: one of its own for the embedded store, none for others. */
  readonly encryptionConfig: string | undefined;
  /** Which admission plugins are on, besides kube-apiserver's own choice. */
  readonly admission: PluginChoice;
  /** More names and addresses for the server's certificate. */
  readonly hosts: readonly string[];
  /** Where clients reach tenants, whichever replica answers; their tokens name it. Absent: where the API is served. */
  readonly externalUrl: string | undefined;
  /** Networks that webhooks and APIServices may name although they are on this machine or its link. */
  readonly outboundAllow: readonly string[];
  readonly flow: FlowOptions;
  /** What all control planes together may keep in memory of their stores. */
  readonly cacheBytesMax: number;
}

export const help = helpText('Hangar, a home for Kubernetes control planes.\n\nUsage: hangar [options]', [
  {
    title: 'Basics',
    rows: [
      ['--data-dir DIR', 'where everything is kept (default: .data)'],
      ['--kubeconfig FILE', "where the administrator's kubeconfig is written (default: DIR/admin.kubeconfig)"],
      ['--version', 'print the version and the Kubernetes release that is served'],
      ['-h, --help', 'print this'],
    ],
  },
  {
    title: 'Serving',
    rows: [
      ['--listen HOST:PORT', 'where the API is served, over TLS (default: 127.0.0.1:6443; port 0: any)'],
      ['--advertise-address IP', 'what the endpoints of the kubernetes service say (default: where the API is served)'],
      ['--host NAME', 'one more name or address of this server, for its certificate; may be repeated'],
      ['--external-url URL', 'where tenants are reached, the same for all replicas (default: where the API is served)'],
      ...servingHelp,
    ],
  },
  storeHelp,
  authenticationHelp,
  authorizationHelp,
  {
    title: 'Admission',
    rows: [
      ['--enable-admission-plugins NAMES', 'plugins that are off unless they are named, separated by commas'],
      ['--disable-admission-plugins NAMES', 'plugins that are on unless they are named, separated by commas'],
    ],
  },
  auditHelp,
  {
    title: 'Encryption at rest',
    rows: [
      [
        '--encryption-provider-config FILE',
        "kube-apiserver's EncryptionConfiguration; without it, the embedded store has DIR/pki/encryption.yaml, made at the first start, and others encrypt nothing",
      ],
    ],
  },
  {
    title: 'Outbound',
    rows: [
      [
        '--outbound-allow-cidr CIDR',
        'let webhooks and APIServices reach loopback, link-local and metadata addresses of this network; may be repeated',
      ],
    ],
  },
  flowHelp,
  memoryHelp,
  {
    title: 'Environment',
    rows: [
      ['LOG_LEVEL', 'trace, debug, info, warn, error, fatal or silent (default: info)'],
      ['LOG_FORMAT', 'json or text (default: text on a terminal, else json)'],
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'a collector of OpenTelemetry that is sent traces (default: none are made)'],
    ],
  },
]);

export function readOptions(args: readonly string[]): PlatformOptions | 'help' | 'version' {
  const values = parse(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const dataDirectory = resolve(values['data-dir']);
  return {
    dataDirectory,
    ...listenAddress(values.listen),
    kubeconfig: resolve(values.kubeconfig ?? join(dataDirectory, 'admin.kubeconfig')),
    store: storeOptions(values),
    tokenFile: values['token-file'],
    serving: servingOptions(values),
    authentication: authenticationOptions(values),
    authorization: authorizationSource(values),
    advertiseAddress: values['advertise-address'],
    audit: auditOptions(values),
    encryptionConfig: values['encryption-provider-config'],
    admission: plugins(values['enable-admission-plugins'], values['disable-admission-plugins']),
    ...reachedAt(values.host ?? [], values['external-url']),
    outboundAllow: networks(values['outbound-allow-cidr'] ?? []),
    flow: flowOptions(values),
    cacheBytesMax: cacheBytes(values),
  };
}

/** All that there are. */
export const flags = {
  'data-dir': { type: 'string', default: '.data' },
  listen: { type: 'string', default: '127.0.0.1:6443' },
  kubeconfig: { type: 'string' },
  'advertise-address': { type: 'string' },
  host: { type: 'string', multiple: true },
  'external-url': { type: 'string' },
  'token-file': { type: 'string' },
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...auditFlags,
  ...flowFlags,
  ...memoryFlags,
  'outbound-allow-cidr': { type: 'string', multiple: true },
  'encryption-provider-config': { type: 'string' },
  'enable-admission-plugins': { type: 'string', multiple: true },
  'disable-admission-plugins': { type: 'string', multiple: true },
  ...storeFlags,
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: flags,
    });
    return values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** The name in the URL is one of the server's, too. */
function reachedAt(hosts: string[], external: string | undefined): Pick<PlatformOptions, 'hosts' | 'externalUrl'> {
  if (external === undefined) return { hosts, externalUrl: undefined };
  const url = URL.canParse(external) ? new URL(external) : undefined;
  if (url?.protocol !== 'https:' || url.href !== `${url.origin}/`) {
    throw new UsageError(`--external-url: "${external}" is not https://HOST or https://HOST:PORT`);
  }
  const name = url.hostname.replaceAll(/[[\]]/g, '');
  return { hosts: hosts.includes(name) ? hosts : [...hosts, name], externalUrl: url.origin };
}

function listenAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--listen: "${text}" is not HOST:PORT`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

/** A name that no plugin has is told, with those that there are. */
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
