/**
 * Finds the Hangar that a command connects to. The first of these decides:
 *
 *     --kubeconfig FILE
 *     --data-dir DIR                         admin.kubeconfig in it
 *     .data/admin.kubeconfig                 where `hangar up` writes it, if the file exists
 *     the files in $KUBECONFIG               if one of them exists
 *     ~/.kube/config                         only with --context: its current context may be any cluster
 */

import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { ClusterConfig } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Given } from './command.ts';
import { failed } from './errors.ts';
import { hangar } from './hints.ts';
import type { Session } from './session.ts';
import { quoted } from './terminal/plain-text.ts';

const defaultDataFolder = '.data';

export interface Platform {
  /** Merged as kubectl merges them. */
  readonly kubeconfigs: readonly string[];
  /** Undefined: the kubeconfig does not name the data folder of its server. */
  readonly dataFolder: string | undefined;
  /** As a user would type it. */
  readonly shown: string;
}

type Place = Pick<Session, 'folder' | 'homeFolder' | 'env'>;

export function platformOf(place: Place, given: Given): Platform {
  const { folder } = place;
  const kubeconfig = given.text('kubeconfig');
  const dataDir = given.text('data-dir');
  if (kubeconfig !== undefined) {
    const dataFolder = dataDir === undefined ? undefined : resolve(folder, dataDir);
    return { kubeconfigs: [resolve(folder, kubeconfig)], dataFolder, shown: kubeconfig };
  }
  const shown = join(dataDir ?? defaultDataFolder, 'admin.kubeconfig');
  const path = resolve(folder, shown);
  const foreign = dataDir === undefined && !existsSync(path) ? foreignPlatform(place, given.has('context')) : undefined;
  return foreign ?? { kubeconfigs: [path], dataFolder: resolve(folder, dataDir ?? defaultDataFolder), shown };
}

function foreignPlatform({ folder, homeFolder, env }: Place, hasContext: boolean): Platform | undefined {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const named = listed.map((path) => resolve(folder, path)).filter((path) => existsSync(path));
  if (named.length > 0) return { kubeconfigs: [...new Set(named)], dataFolder: undefined, shown: env['KUBECONFIG']! };
  const own = join(homeFolder, '.kube', 'config');
  if (!hasContext || listed.length > 0 || !existsSync(own)) return undefined;
  return { kubeconfigs: [own], dataFolder: undefined, shown: own };
}

/** Rejects with `Failed` when the kubeconfig does not exist, and with the errors of the client when it cannot be used. */
export async function platformConfig(session: Session, given: Given): Promise<ClusterConfig> {
  const { kubeconfigs, shown } = platformOf(session, given);
  const { loadKubeconfig } = await import('@hangar/client');
  const options = { context: given.text('context'), clock: session.clock, env: session.env };
  try {
    return await loadKubeconfig(kubeconfigs, options);
  } catch (error) {
    if (!hasCode((error as Error).cause, 'ENOENT')) throw error;
    throw failed(`the kubeconfig ${quoted(shown)} does not exist, so the address of Hangar is unknown`, {
      next: given.has('kubeconfig')
        ? undefined
        : `start Hangar with: ${hangar('up')}\nif it runs elsewhere, add --data-dir DIR or --kubeconfig FILE, or set KUBECONFIG`,
      cause: error,
    });
  }
}
