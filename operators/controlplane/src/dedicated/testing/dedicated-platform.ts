/** A test platform with dedicated control planes. */

import type { Client, ClusterConfig, HttpTransport } from '@hangar/client';
import type { MigrationPlatform } from '../../migration/controller.ts';
import { startTestPlatform } from '../../testing/platform.ts';
import type { TestPlatform } from '../../testing/platform.ts';
import { hostedDouble, installHosted } from './hosted-double.ts';
import type { HostedDouble } from './hosted-double.ts';

export interface DedicatedTestPlatform extends AsyncDisposable {
  readonly platform: TestPlatform;
  readonly client: Client;
  readonly hosted: HostedDouble;
}

export interface DedicatedTestOptions {
  /** HostedControlPlanes whose name matches stay without an address. */
  readonly holdBack?: RegExp;
  /** Interval in which addons are applied again. */
  readonly addonResyncMs?: number;
  /** Absent: control planes cannot be migrated. */
  readonly migration?: MigrationPlatform;
}

export async function startDedicatedPlatform(options: DedicatedTestOptions = {}): Promise<DedicatedTestPlatform> {
  await using opened = new AsyncDisposableStack();
  let hosted: HostedDouble | undefined;
  const dedicated = (config: ClusterConfig): HttpTransport => hosted!.transport(config);
  const { addonResyncMs, migration } = options;
  const platform = await startTestPlatform({ dedicated, addonResyncMs, migration });
  await installHosted(platform.client);
  hosted = await hostedDouble(platform.client, options);
  opened.use(hosted);
  // Before the double: the operator uses it.
  opened.use(platform);
  const closing = opened.move();
  return { platform, client: platform.client, hosted, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}
