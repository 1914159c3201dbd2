/** How a measured process talks to the one that measures it. */

import { loadKubeconfig } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { Logger, systemClock } from '@hangar/core';

// Whoever measures is gone, or has all that it wants.
process.once('disconnect', () => process.exit());

export const told = <T>(): T => JSON.parse(process.argv[2]!) as T;

export const say = (what: string, value: unknown = true): void => void process.send!([what, value]);

/** Answers to what it is asked; a function for each word. */
export function answer(words: Readonly<Record<string, () => unknown>>): void {
  process.on('message', async (what: string) => say(what, (await words[what]!()) ?? true));
}

/** An administrator's of the Hangar, for the management plane or for what is below a path. */
export async function configOf(kubeconfig: string, path = ''): Promise<ClusterConfig> {
  const config = await loadKubeconfig(kubeconfig);
  return { ...config, server: `${config.server}${path}` };
}

export const log = new Logger({ level: 'error', format: 'text', clock: systemClock });

/** Milliseconds since this process was started. */
export const aliveMs = (): number => performance.now();

/** As others on this machine count them. */
export const nowMs = (): number => performance.timeOrigin + performance.now();
