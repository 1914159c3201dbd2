/**
 * Every I/O call of the embedded driver fails once: first a run counts the calls that touch the data directory, then one run for each of
 * them makes it fail (or kills the process at it), and a clean read afterwards compares the content with the acknowledged transactions.
 * Nothing acknowledged may be missing, and nothing else may exist except whole transactions with an unknown outcome; every error must be
 * one of the store's; and the store must open again by itself.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openEmbeddedStore } from '../../packages/store/src/drivers/embedded/embedded-store.ts';
import { everything } from '../../packages/store/src/keys.ts';
import { Ledger } from './ledger.ts';
import { countCalls, traced, wasInjected } from './strace.ts';
import { scriptedProcess } from './scripted-process.ts';
import type { Fault, TracedResult } from './strace.ts';
import { enter, stateOf } from './telling.ts';
import type { Told } from './telling.ts';

/**
 * Faults of each call. Not included: `close`, because strace skips a call that it makes fail and the file stays open; locks (`fcntl`),
 * which are in the memory of the kernel and no disk can fail.
 */
const effects: Record<string, readonly string[]> = {
  pwrite64: ['EIO', 'ENOSPC', 'SIGKILL'],
  write: ['EIO', 'ENOSPC', 'SIGKILL'],
  fsync: ['EIO', 'SIGKILL'],
  fdatasync: ['EIO', 'SIGKILL'],
  ftruncate: ['EIO', 'SIGKILL'],
  fallocate: ['ENOSPC', 'SIGKILL'],
  rename: ['EIO', 'SIGKILL'],
  unlink: ['EIO', 'SIGKILL'],
  openat: ['EIO', 'ENOSPC'],
  mkdir: ['EIO'],
  mmap: ['ENOMEM'],
  pread64: ['EIO'],
  read: ['EIO'],
  lseek: ['EIO'],
  access: ['EIO'],
  faccessat: ['EIO'],
  stat: ['EIO'],
  lstat: ['EIO'],
  fstat: ['EIO'],
  statx: ['EIO'],
  newfstatat: ['EIO'],
  fchown: ['EIO'],
};

let folder: string;
before(() => (folder = mkdtempSync(join(tmpdir(), 'hangar-nth-fault-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The reports of the process must be consistent by themselves, and with a clean read. */
async function check(directory: string, result: TracedResult, options: { killed: boolean }): Promise<Ledger> {
  const ledger = new Ledger();
  for (const line of result.stdout.split('\n').slice(0, -1)) {
    const rest = enter(ledger, JSON.parse(line) as Told);
    if (rest?.[0] === 'failed') assert.fail(rest[1]);
    // A commit that failed at its sync may still be found by a later recovery, as if it had been made then.
    if (rest?.[0] === 'state') ledger.compare({ revision: rest[1], entries: new Map(rest[2]) }, { mayBeLate: true });
  }
  assert.equal(result.stderr, '');
  if (!options.killed) assert.equal(result.code, 0, `the process ended with ${result.code ?? result.signal}`);
  ledger.leaveAllOpen();
  const store = await openEmbeddedStore({ directory });
  try {
    ledger.compare(await stateOf(store, everything));
  } finally {
    await store.close();
  }
  assert.deepEqual(ledger.violations, []);
  return ledger;
}

async function provoke(fault: Fault): Promise<{ happened: boolean; ledger: Ledger }> {
  const process = scriptedProcess(folder, `${fault.call}-${fault.effect}-${fault.n}`);
  try {
    const result = await traced(process, { calls: [fault.call], fault });
    const killed = fault.effect === 'SIGKILL';
    const ledger = await check(process.directory, result, { killed });
    return { happened: killed ? result.signal === 'SIGKILL' : wasInjected(process.outputPath), ledger };
  } catch (error) {
    throw new Error(`${fault.call} number ${fault.n} with ${fault.effect}`, { cause: error });
  } finally {
    rmSync(process.directory, { recursive: true, force: true });
    rmSync(process.outputPath, { force: true });
  }
}

async function countAll(): Promise<Map<string, number>> {
  const process = scriptedProcess(folder, 'counted');
  const result = await traced(process, { calls: Object.keys(effects) });
  const ledger = await check(process.directory, result, { killed: false });
  assert.deepEqual(ledger.counts, { ...ledger.counts, refused: 0, unknown: 0 });
  return countCalls(process.outputPath);
}

test('a fault at any I/O call leaves the embedded store whole', async () => {
  const counts = await countAll();
  const faults = [...counts].flatMap(([call, count]) =>
    effects[call]!.flatMap((effect) => Array.from({ length: count }, (_, at): Fault => ({ call, effect, n: at + 1 }))),
  );
  console.log(`${faults.length} faults: ${[...counts].map(([call, count]) => `${count} ${call}`).join(', ')}`);
  const startedMs = performance.now();
  const covered = new Map<string, number>();
  const felt = { refused: 0, leftOpen: 0 };
  const failures: unknown[] = [];
  let done = 0;
  const queue = faults.values();
  const work = async () => {
    for (const fault of queue) {
      try {
        const { happened, ledger } = await provoke(fault);
        if (happened) covered.set(fault.call, (covered.get(fault.call) ?? 0) + 1);
        felt.refused += ledger.counts.refused;
        felt.leftOpen += ledger.counts.unknown;
      } catch (error) {
        failures.push(error);
        if (failures.length > 10) return;
      }
      if (++done % 100 === 0) console.log(`${done} of ${faults.length}, ${seconds(startedMs)} s`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  console.log(
    `covered: ${[...covered].map(([call, count]) => `${count} ${call}`).join(', ')}, ${seconds(startedMs)} s`,
  );
  console.log(`${felt.refused} commits were refused, ${felt.leftOpen} left open`);
  assert.equal(failures.length, 0, failures.map((failure) => describe(failure)).join('\n'));
  assert.ok(felt.refused > 20 && felt.leftOpen > 20, 'the faults hit no commits');
  for (const call of counts.keys()) {
    const expected = counts.get(call)! * effects[call]!.length;
    // Threads interleave differently, so the last call of one run may not exist in another.
    assert.ok(
      covered.get(call)! >= expected * 0.9,
      `${call}: only ${covered.get(call)} of ${expected} faults happened`,
    );
  }
});

function seconds(startedMs: number): string {
  return ((performance.now() - startedMs) / 1000).toFixed(0);
}

function describe(failure: unknown): string {
  const { message, cause } = failure as Error;
  return `${message}: ${((cause as Error)?.message ?? '').slice(0, 1_000)}`;
}
