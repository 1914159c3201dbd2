/** Where the platform is that a command is about: `--kubeconfig`, else `--data-dir`, else the data directory that `hangar up` has here. */

import { join, resolve } from 'node:path';
import type { ClusterConfig } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Given } from './command.ts';
import { failed } from './errors.ts';
import type { Session } from './session.ts';
import { quoted } from './terminal/plain-text.ts';

const defaultDataFolder = '.data';

export interface Platform {
  readonly kubeconfig: string;
  /** Undefined: a kubeconfig was named, and nobody knows where its server keeps things. */
  readonly dataFolder: string | undefined;
  /** As a person would type it. */
  readonly shown: string;
}

export function platformOf({ folder }: Pick<Session, 'folder'>, given: Given): Platform {
  const kubeconfig = given.text('kubeconfig');
  const dataDir = given.text('data-dir');
  if (kubeconfig !== undefined) {
    const dataFolder = dataDir === undefined ? undefined : resolve(folder, dataDir);
    return { kubeconfig: resolve(folder, kubeconfig), dataFolder, shown: kubeconfig };
  }
  const shown = join(dataDir ?? defaultDataFolder, 'admin.kubeconfig');
  return { kubeconfig: resolve(folder, shown), dataFolder: resolve(folder, dataDir ?? defaultDataFolder), shown };
}

/** Rejects with `Failed` when there is none, and with the client's own errors when there is something else. */
export async function platformConfig(session: Session, given: Given): Promise<ClusterConfig> {
  const { kubeconfig, shown } = platformOf(session, given);
  const { loadKubeconfig } = await import('@hangar/client');
  try {
    return await loadKubeconfig(kubeconfig, { context: given.text('context'), clock: session.clock, env: session.env });
  } catch (error) {
    if (!hasCode((error as Error).cause, 'ENOENT')) throw error;
    throw failed(`there is no kubeconfig ${quoted(shown)}, so it is not known where Hangar is`, {
      next: given.has('kubeconfig')
        ? undefined
        : 'start Hangar with: hangar up\nif it runs with another data directory, or elsewhere: --data-dir DIR, or --kubeconfig FILE',
      cause: error,
    });
  }
}
