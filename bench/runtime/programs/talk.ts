/** Messages between a measured process and the measuring one. */

import { loadKubeconfig } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { Logger, systemClock } from '@hangar/core';

// The measuring process has exited, or is done.
process.once('disconnect', () => process.exit());

export const told = <T>(): T => JSON.parse(process.argv[2]!) as T;

export const say = (what: string, value: unknown = true): void => void process.send!([what, value]);

/** Answers requests; a function for each word. */
export function answer(words: Readonly<Record<string, () => unknown>>): void {
  process.on('message', async (what: string) => say(what, (await words[what]!()) ?? true));
}

/** Administrator's configuration of the Hangar, for the management plane or below a path. */
export async function configOf(kubeconfig: string, path = ''): Promise<ClusterConfig> {
  const config = await loadKubeconfig(kubeconfig);
  return { ...config, server: `${config.server}${path}` };
}

export const log = new Logger({ level: 'error', format: 'text', clock: systemClock });

/** Milliseconds since this process was started. */
export const aliveMs = (): number => performance.now();

/** Comparable between processes of this machine. */
export const nowMs = (): number => performance.timeOrigin + performance.now();
