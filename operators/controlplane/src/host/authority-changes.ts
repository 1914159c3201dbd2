/**
 * Detects a new CA of the host's certificates, which all kubeconfigs must contain. There is no event for it: polls every few minutes, once
 * for all control planes.
 */

import type { Clock } from '@hangar/core';
import { sleep } from '@hangar/core';
import type { RawSource } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';
import type { TenantHost } from './contract.ts';

const askEveryMs = 5 * 60_000;

export function authorityChanges(host: Pick<TenantHost, 'servingCa'>, clock: Clock): RawSource {
  // Kept across restarts of the source: the CA may have changed while the host was unavailable.
  let known: string | undefined;
  return async ({ cluster, enqueue }, signal) => {
    known ??= await host.servingCa();
    while (!signal.aborted) {
      await sleep(clock, askEveryMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const now = await host.servingCa();
      if (now === known) continue;
      known = now;
      for (const { metadata } of cluster.cache.informer(ControlPlane).all()) enqueue({ name: metadata.name! });
    }
  };
}
