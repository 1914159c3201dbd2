/** Flags of the store. Flags of etcd are named as in kube-apiserver. */

import { parseDuration } from '@hangar/api';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';
import { endpointsOf, isEndpoints } from './store-url.ts';

export type StoreOptions = { readonly type: 'embedded' | 'memory' } | EtcdOptions;

export interface EtcdOptions {
  readonly type: 'etcd';
  readonly endpoints: readonly string[];
  /** For endpoints with https. */
  readonly tls: EtcdTlsFiles | undefined;
  /** Older history is compacted; 0: compaction is external. */
  readonly compactionIntervalMs: number;
}

export interface EtcdTlsFiles {
  /** Absent: the authorities that Node trusts. */
  readonly ca: string | undefined;
  /** Both or none: the client certificate for etcd. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

const text = { type: 'string' } as const;

export const storeFlags = {
  store: { type: 'string', default: 'embedded' },
  'etcd-endpoints': text,
  'etcd-cafile': text,
  'etcd-certfile': text,
  'etcd-keyfile': text,
  'etcd-compaction-interval': text,
} as const;

export const storeHelp: HelpGroup = {
  title: 'Store',
  rows: [
    [
      '--store STORE',
      'embedded, memory or etcd: etcd://HOST:PORT,HOST:PORT without TLS, etcds:// or https:// with TLS, or etcd with --etcd-endpoints (default: embedded)',
    ],
    ['--etcd-endpoints URLS', 'endpoints of --store etcd, separated by commas'],
    ['--etcd-cafile FILE', 'CAs of the serving certificates of etcd (default: those that Node.js trusts)'],
    ['--etcd-certfile FILE', 'client certificate for etcd'],
    ['--etcd-keyfile FILE', 'private key of --etcd-certfile'],
    [
      '--etcd-compaction-interval DURATION',
      'interval between compactions of etcd (default: 5m; 0: no compaction by Hangar)',
    ],
  ],
};

type Values = { readonly [Name in keyof typeof storeFlags]?: string | undefined } & { readonly store: string };

export function storeOptions(values: Values): StoreOptions {
  const { store: type, 'etcd-endpoints': endpoints } = values;
  if (isEndpoints(type)) return etcdByUrl(type, values);
  switch (type) {
    case 'embedded':
    case 'memory': {
      const useless = Object.entries(values).find(([name, given]) => name.startsWith('etcd-') && given !== undefined);
      if (useless) throw new UsageError(`--${useless[0]} requires --store etcd`);
      return { type };
    }
    case 'etcd':
      if (endpoints === undefined) throw new UsageError('--store etcd requires --etcd-endpoints');
      return etcd(endpoints.split(','), values);
    default:
      throw new UsageError(
        `--store: "${type}" must be one of embedded, memory, etcd, etcd://HOST:PORT, etcds://HOST:PORT`,
      );
  }
}

const etcd = (endpoints: readonly string[], values: Values): EtcdOptions => ({
  type: 'etcd',
  endpoints,
  tls: tlsFiles(values),
  compactionIntervalMs: milliseconds(values['etcd-compaction-interval'] ?? '5m'),
});

function etcdByUrl(text: string, values: Values): EtcdOptions {
  if (values['etcd-endpoints'] !== undefined)
    throw new UsageError('--store already has the endpoints of etcd: remove --etcd-endpoints');
  const endpoints = endpointsOf(text);
  const given = etcd(endpoints, values);
  // Certificates with plain HTTP are an error: the user expects encryption.
  if (given.tls && endpoints.some((one) => one.startsWith('http:'))) {
    throw new UsageError(
      `--store: "${text}" does not use TLS: --etcd-cafile, --etcd-certfile and --etcd-keyfile require etcds://`,
    );
  }
  return given;
}

function tlsFiles(values: Values): EtcdTlsFiles | undefined {
  const { 'etcd-cafile': ca, 'etcd-certfile': certificate, 'etcd-keyfile': key } = values;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-certfile and --etcd-keyfile must be set together');
  }
  return ca === undefined && certificate === undefined ? undefined : { ca, certificate, key };
}

function milliseconds(compaction: string): number {
  try {
    const found = Number(parseDuration(compaction) / 1_000_000n);
    if (found >= 0) return found;
  } catch {
    // As invalid as a negative one.
  }
  throw new UsageError(`--etcd-compaction-interval: "${compaction}" is not a duration`);
}
