/** Explains why a start failed: what failed, why, and what to do. */

import { announced, listeningProcess, shellWord } from '@hangar/core/command-line';
import type { PlatformOptions } from '../options/options.ts';

export interface StartPlace extends Pick<PlatformOptions, 'dataDirectory' | 'host' | 'port' | 'store'> {
  /** The words that start this program: `npx hangar`. */
  readonly program: string;
}

/** Undefined: the failure is not expected, and is shown with its stack. */
export async function explanation(error: unknown, place: StartPlace): Promise<string | undefined> {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return undefined;
  if (code === 'EADDRINUSE') return portInUse(place);
  if (code === 'StorageInUse') return dataDirectoryInUse(error, place);
  const advice = adviceFor(code, syscall === 'listen' || syscall === 'bind', place);
  return advice === undefined ? error.message : `${advice}: ${error.message}`;
}

async function portInUse({ host, port, program }: StartPlace): Promise<string> {
  const found = await listeningProcess(port);
  const owner = found
    ? `${found.isHangar ? 'another Hangar, ' : ''}process ${found.pid} (${found.command.slice(0, commandMax)})`
    : 'another process';
  const next = `stop it, or choose another port: ${program} up --port ${port === 65_535 ? port - 1 : port + 1}`;
  return `port ${port} of ${host} is in use by ${owner}\n        ${next}`;
}

const commandMax = 200;

async function dataDirectoryInUse({ message }: Error, { dataDirectory, program }: StartPlace): Promise<string> {
  const [, pid] = /process (\d+)/.exec(message) ?? [];
  const server = await announced(dataDirectory);
  const at = server && String(server.pid) === pid ? `, which serves ${server.url}` : '';
  const owner = pid === undefined ? 'another process' : `process ${pid}${at}`;
  const next = `stop it, or choose another directory: ${program} up --data-dir ${shellWord(`${dataDirectory}-2`)} --port 7443`;
  return `the data directory ${dataDirectory} is in use by ${owner}\n        ${next}`;
}

function adviceFor(code: string, isListening: boolean, { dataDirectory, host, store }: StartPlace): string | undefined {
  switch (code) {
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return isListening || code === 'ENOTFOUND'
        ? `address ${host} is not available on this machine; change --listen`
        : undefined;
    case 'EACCES':
    case 'EPERM':
      return isListening
        ? 'permission denied for this port; use a port from 1024 with --port'
        : `permission denied; change --data-dir (${dataDirectory}) or --kubeconfig`;
    case 'EROFS':
    case 'ENOTDIR':
      return `the directory is not writable; change --data-dir (${dataDirectory}) or --kubeconfig`;
    case 'ENOSPC':
    case 'StorageFull':
      return `the disk of ${dataDirectory} is full; free some space`;
    case 'Unavailable':
      return store.type === 'etcd'
        ? `etcd does not answer at ${store.endpoints.join(', ')}; check that it is running, and that --store has its address`
        : undefined;
    case 'Unauthenticated':
      return 'etcd rejected the credentials; check --etcd-cafile, --etcd-certfile and --etcd-keyfile';
    default:
      return undefined;
  }
}
