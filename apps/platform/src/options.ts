/** The command line, and what it means. */

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface PlatformOptions {
  readonly dataDirectory: string;
  readonly host: string;
  readonly port: number;
  /** Where the administrator's kubeconfig is written. */
  readonly kubeconfig: string;
  readonly store: StoreOptions;
  /** Lines of `token,user,uid,"group1,group2"`. */
  readonly tokenFile: string | undefined;
  /** More names and addresses for the server's certificate. */
  readonly hosts: readonly string[];
}

export type StoreOptions =
  | { readonly type: 'embedded' | 'memory' }
  | { readonly type: 'etcd'; endpoints: readonly string[] };

export const help = `Hangar, a home for Kubernetes control planes.

Usage: hangar [options]

  --data-dir DIR          where everything is kept                  (default: .data)
  --listen HOST:PORT      where the API is served, over TLS         (default: 127.0.0.1:6443; port 0: any)
  --kubeconfig FILE       where to write the admin's kubeconfig     (default: DIR/admin.kubeconfig)
  --host NAME             one more name or address of this server, for its certificate; may be repeated
  --token-file FILE       static tokens: token,user,uid,"group,group" on each line
  --store DRIVER          embedded | etcd | memory                  (default: embedded)
  --etcd-endpoints URLS   of --store etcd, separated by commas
  --version               print the version and the Kubernetes release that is served
  --help                  print this
`;

/** What is wrong with a command line; shown to whoever typed it, without a stack. */
export class UsageError extends Error {}

export function readOptions(args: readonly string[]): PlatformOptions | 'help' | 'version' {
  const values = parse(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const dataDirectory = resolve(values['data-dir']);
  return {
    dataDirectory,
    ...listenAddress(values.listen),
    kubeconfig: resolve(values.kubeconfig ?? join(dataDirectory, 'admin.kubeconfig')),
    store: storeOptions(values.store, values['etcd-endpoints']),
    tokenFile: values['token-file'],
    hosts: values.host ?? [],
  };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        'data-dir': { type: 'string', default: '.data' },
        listen: { type: 'string', default: '127.0.0.1:6443' },
        kubeconfig: { type: 'string' },
        host: { type: 'string', multiple: true },
        'token-file': { type: 'string' },
        store: { type: 'string', default: 'embedded' },
        'etcd-endpoints': { type: 'string' },
        version: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function listenAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--listen: "${text}" is not HOST:PORT`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

function storeOptions(type: string, endpoints: string | undefined): StoreOptions {
  switch (type) {
    case 'embedded':
    case 'memory':
      if (endpoints !== undefined) throw new UsageError('--etcd-endpoints is for --store etcd');
      return { type };
    case 'etcd':
      if (endpoints === undefined) throw new UsageError('--store etcd needs --etcd-endpoints');
      return { type, endpoints: endpoints.split(',') };
    default:
      throw new UsageError(`--store: "${type}" is none of embedded, etcd, memory`);
  }
}
