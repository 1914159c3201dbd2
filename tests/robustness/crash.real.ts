/** A writer killed with SIGKILL, 200 times at random moments: nothing that was acknowledged is missing, nothing is invented. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { crashRounds, pause, progress, within } from './crash-rounds.ts';
import type { CrashReport } from './crash-rounds.ts';

const kills = Number(process.env['HANGAR_CRASH_KILLS'] ?? 200);
/** Of the moments and the load; what the scheduler makes of them differs from run to run. */
const seed = Number(process.env['HANGAR_CRASH_SEED'] ?? Date.now() % 1_000_000);
/** So little that compaction never rests. */
const history = { ageMs: 40, revisionsMax: 60 };

function verdict({ ledger, ...report }: CrashReport): void {
  console.log(`${progress({ ledger, ...report })} (seed ${seed}, ${report.comparisons} comparisons)`);
  assert.deepEqual(ledger.violations, [], `HANGAR_CRASH_SEED=${seed}`);
  assert.equal(report.kills, kills);
  assert.ok(report.comparisons > kills / 2, 'most rounds must come to a comparison');
  assert.ok(ledger.counts.acknowledged > kills * 10, 'hardly anything was written');
}

test(`the embedded driver keeps every acknowledged write through ${kills} kills`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-crash-'));
  try {
    const report = await crashRounds({
      kills,
      random: seededRandom(seed),
      // So few pages that a checkpoint is always near.
      writer: { embedded: { directory: join(folder, 'data'), history, checkpointPages: 30 }, seed, writers: 24 },
      compileCache: join(folder, 'compiled'),
      mayBeLate: false,
      log: (line) => console.log(`embedded: ${line}`),
    });
    verdict(report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test(`the etcd driver keeps every acknowledged write through ${kills} kills, some of etcd itself`, async () => {
  const etcd = await startEtcd();
  const folder = mkdtempSync(join(tmpdir(), 'hangar-crash-'));
  try {
    const [member] = etcd.members;
    let etcdKills = 0;
    const report = await crashRounds({
      kills,
      random: seededRandom(seed),
      writer: { etcd: { endpoints: etcd.endpoints, history, requestTimeoutMs: 2_000 }, seed, writers: 24 },
      compileCache: join(folder, 'compiled'),
      mayBeLate: true,
      log: (line) => console.log(`etcd: ${line}, ${etcdKills} kills of etcd`),
      async disturb(victim, round) {
        if (round % 10 !== 5) return;
        await member!.kill();
        etcdKills++;
        await member!.start();
        await within(30_000, victim.next('acknowledged'), 'an acknowledgement after etcd was restarted');
        await pause(round % 30);
      },
    });
    console.log(`${etcdKills} kills of etcd`);
    verdict(report);
    assert.ok(etcdKills >= Math.floor(kills / 25));
  } finally {
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
