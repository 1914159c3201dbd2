/** Creates HostedControlPlanes, and measures the time until they have a condition. */

import type { Client } from '@hangar/client';
import { isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import type { HostedControlPlaneSpec } from '../../operators/hosted/src/api/index.ts';

export interface PlaneOptions {
  readonly names: readonly string[];
  readonly spec: Omit<HostedControlPlaneSpec, 'version'>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Type of the condition to wait for. */
  readonly condition: string;
}

export const version = 'v1.36.4';
const createTimeoutMs = 1_200_000;

/** Creates control planes concurrently. Resolves with the time in milliseconds when all have the condition. */
export async function createPlanes(
  client: Client,
  namespace: string,
  { names, spec, annotations = {}, condition }: PlaneOptions,
): Promise<number> {
  const waiting = new Set(names);
  if (waiting.size === 0) return 0;
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(createTimeoutMs)]);
  const { resourceVersion } = await client.list(HostedControlPlane, { namespace });
  const fromMs = performance.now();
  const reached = (async () => {
    for await (const event of client.watch(HostedControlPlane, { namespace, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue;
      if (isConditionTrue(event.object.status?.conditions, condition)) waiting.delete(event.object.metadata.name!);
      if (waiting.size === 0) return performance.now() - fromMs;
    }
    throw new Error(`condition ${condition} is missing: HostedControlPlanes ${[...waiting].join(', ')}`);
  })();
  const created = names.map((name) =>
    client.create(HostedControlPlane, {
      metadata: { namespace, name, annotations },
      spec: { version, ...spec },
    }),
  );
  const [tookMs] = await Promise.all([reached, ...created]);
  ending.abort();
  return tookMs;
}
