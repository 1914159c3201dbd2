/** One round trip of a control plane with a number of objects. */

import { HostedPlatform } from '../../tests/migration/testing/platform.ts';
import { AcknowledgedWrites } from '../../tests/migration/testing/acknowledged-writes.ts';
import { seconds } from '../hosted/units.ts';
import { PeakMemory } from '../server/peak-memory.ts';
import { fill } from './fill.ts';
import { disposeOnSignal, progressLines } from './progress.ts';

export interface SizeOptions {
  readonly objects: number;
  /** Per second. */
  readonly writes: number;
}

export interface SizeRow {
  readonly objects: number;
  readonly toDedicatedSeconds: number;
  readonly toVirtualSeconds: number;
  readonly longestPauseMs: number;
  readonly p99Ms: number;
  /** Growth of the largest resident size of the server while it migrates. */
  readonly serverGrowthMiB: number;
}

export async function sizes({ objects, writes }: SizeOptions): Promise<SizeRow> {
  const print = progressLines();
  await using stack = new AsyncDisposableStack();
  disposeOnSignal(stack);
  const platform = stack.use(await HostedPlatform.start());
  await platform.hangar('create', 'app', '-o', 'app.kubeconfig');
  const kubeconfig = await platform.text('app.kubeconfig');
  await fill(kubeconfig, { configMaps: objects, definitions: 0 });
  print(`the control plane has ${objects} objects`);
  const client = stack.use(await AcknowledgedWrites.start(kubeconfig, { perSecond: writes }));
  await client.more(writes);
  using memory = new PeakMemory(await platform.serverPid());
  const toDedicatedSeconds = await platform.migrate('app', 'dedicated');
  print(`${objects} objects, to dedicated: ${seconds(toDedicatedSeconds * 1_000)}`);
  await client.more(writes);
  const toVirtualSeconds = await platform.migrate('app', 'virtual');
  print(`${objects} objects, to virtual: ${seconds(toVirtualSeconds * 1_000)}`);
  await client.more(writes);
  const { longestPauseMs, p99Ms, faults } = await client.finish();
  if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'));
  return { objects, toDedicatedSeconds, toVirtualSeconds, longestPauseMs, p99Ms, serverGrowthMiB: memory.growthMiB };
}
