/**
 * Kubernetes' own specs about namespaces, garbage, quotas, service accounts, certificates, bootstrap tokens, definitions and events,
 * with Hangar's essential controllers in place of kube-controller-manager: at the management plane and in a tenant, at the same time.
 * `left-out.txt` has those that need more than these controllers, and what.
 */

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { tool } from '../../../tools/tool.ts';
import type { Outcome } from '../e2e/report.ts';
import { runInBatches } from '../e2e/run-in-batches.ts';
import { startPlatform } from './platform.ts';
import type { Platform } from './platform.ts';
import { essentialSpecs } from './specs.ts';

const processesMax = 5;
/** Two control planes at a time on two cores: every start of the test program counts. */
const batchSeconds = 50;
const serverErrorsMax = 20;

describe('the essential controllers in place of kube-controller-manager', { concurrency: true }, () => {
  let platform: Platform;
  before(async () => {
    // Building it takes minutes, in which the server would only be in the way.
    await tool('e2e', { log: console.log });
    platform = await startPlatform();
  });
  after(async () => {
    for (const line of platform.log.errors().slice(0, serverErrorsMax)) console.log(`hangar: ${line}`);
    await platform[Symbol.asyncDispose]();
  });

  for (const place of ['root', 'tenant'] as const) {
    test(`every spec about what they do passes: ${place}`, async () => {
      const specs = essentialSpecs();
      const folder = join(platform.folder, place);
      await mkdir(folder);
      const kubeconfig = platform.kubeconfigs.get(place)!;
      const onOutcome = tell(place);
      const outcomes = await runInBatches({ specs, kubeconfig, folder, processesMax, batchSeconds, onOutcome });
      const failed = outcomes.filter(({ passed }) => !passed);
      console.log(`${place}: ${outcomes.length - failed.length} of ${specs.length} passed`);
      assert.equal(outcomes.length, specs.length);
      assert.deepEqual(
        failed.map(({ spec, cause }) => `${spec.name}: ${cause}`),
        [],
      );
    });
  }
});

const tell =
  (place: string) =>
  ({ spec, passed, seconds, cause }: Outcome): void => {
    if (passed && seconds < slowSeconds) return;
    console.log(`${passed ? '✔' : '✖'} ${place} ${spec.name} (${seconds.toFixed(1)} s) ${cause}`);
  };

const slowSeconds = 60;
