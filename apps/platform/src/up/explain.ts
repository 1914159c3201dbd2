/** Failures of a start in words for who started it: what happened, and what to do about it. */

import type { PlatformOptions } from '../options/options.ts';

type Place = Pick<PlatformOptions, 'dataDirectory' | 'host' | 'port' | 'store'>;

/** Undefined: nobody expected this; it is shown as it is, with its stack. */
export function explanation(error: unknown, place: Place): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return undefined;
  const advice = adviceFor(code, syscall === 'listen' || syscall === 'bind', place);
  return advice === undefined ? error.message : `${advice}: ${error.message}`;
}

function adviceFor(code: string, isListening: boolean, { dataDirectory, host, store }: Place): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return 'another process has the port; choose another one by --port, or ask "hangar doctor" who it is';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return isListening || code === 'ENOTFOUND' ? `this machine has no address ${host}; correct --listen` : undefined;
    case 'EACCES':
    case 'EPERM':
      return isListening
        ? 'the port is not for everybody; choose one from 1024 on by --port'
        : `this user may not write there; correct --data-dir (${dataDirectory}) or --kubeconfig`;
    case 'EROFS':
    case 'ENOTDIR':
      return `nothing can be kept there; correct --data-dir (${dataDirectory}) or --kubeconfig`;
    case 'ENOSPC':
    case 'StorageFull':
      return `the disk of ${dataDirectory} is full; make room`;
    case 'Unavailable':
      return store.type === 'etcd'
        ? `etcd does not answer at ${store.endpoints.join(', ')}; see that it runs, and that --store names it`
        : undefined;
    case 'Unauthenticated':
      return 'etcd refuses us; see --etcd-cafile, --etcd-certfile and --etcd-keyfile';
    default:
      return undefined;
  }
}
