import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Activity, breathe, runActivity, runForTenant, systemClock } from '@hangar/core';
import type { Stall } from './contract.ts';
import { CrashJournal } from './crash-journal.ts';
import { threadCpuMs } from './shared-beat.ts';
import { Watchdog } from './watchdog.ts';

/** Uses CPU time, so that a busy machine does not make it shorter. */
function work(ms: number, each: () => void = () => {}): void {
  const endMs = threadCpuMs() + ms;
  while (threadCpuMs() < endMs) each();
}

const ofTenant = (tenant: string, run: () => unknown): unknown =>
  runForTenant({ tenant, user: 'ada', verb: 'patch', resource: '/api/v1/pods' }, run);

describe('the watchdog', () => {
  let directory: string;
  let watchdog: Watchdog;
  let told: (stall: Stall) => void = () => {};
  let failed = (error: Error): void => assert.fail(error);
  const file = (): string => join(directory, 'journal');
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'watchdog-'));
    const journal = { file: file(), journal: new CrashJournal(file()) };
    watchdog = new Watchdog({ journal, onStall: (stall) => told(stall), onError: (error) => failed(error) });
  });
  after(async () => {
    await watchdog.close();
    rmSync(directory, { recursive: true });
  });

  /** Attribution needs samples, and the sampling thread may get no CPU for long: the first stall with a sample counts. */
  async function stallWith(stall: () => void, isSeen: (stall: Stall) => boolean): Promise<Stall> {
    for (let attempt = 0; ; attempt++) {
      const next = new Promise<Stall>((resolve) => (told = resolve));
      await breathe(systemClock);
      stall();
      const timer = setInterval(() => {}, 1_000);
      const seen = await next;
      clearInterval(timer);
      if (isSeen(seen) || attempt === 20) return seen;
    }
  }

  test('names the activity that stalled the loop, although another request came after it began', async () => {
    const stall = await stallWith(
      () =>
        void ofTenant('x', async () => {
          await breathe(systemClock);
          work(400);
        }),
      ({ parts }) => parts[0]?.activity?.tenant === 'x' && parts[0].ms > 200,
    );
    void runActivity(new Activity('GET', '/innocent'), () => breathe(systemClock));
    const [{ activity, ms }] = stall.parts as [Stall['parts'][0]];
    assert.deepEqual([activity?.tenant, activity?.user, activity?.verb], ['x', 'ada', 'patch']);
    assert.ok(ms > 200, `${ms} ms of CPU time`);
  });

  test('journals a long activity while it runs, and not after it has ended', async () => {
    let wasJournalled = false;
    const journal = new CrashJournal(file());
    await stallWith(
      () =>
        void ofTenant('y', () => {
          const endMs = systemClock.monotonicMs() + 5_000;
          const isJournalled = (): boolean => journal.read()?.activity.tenant === 'y';
          while (!wasJournalled && systemClock.monotonicMs() < endMs) wasJournalled = isJournalled();
          work(200);
        }),
      () => wasJournalled,
    );
    while (existsSync(file())) await breathe(systemClock);
    assert.ok(wasJournalled);
  });

  test('does not journal an activity that blocks without CPU time', async () => {
    const journal = new CrashJournal(file());
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    const seen: unknown[] = [];
    await stallWith(
      () =>
        void ofTenant('v', () => {
          for (let at = 0; at < 20; at++) {
            Atomics.wait(nothing, 0, 0, 40);
            seen.push(journal.read());
          }
        }),
      () => true,
    );
    assert.deepEqual(new Set(seen), new Set([undefined]));
  });

  for (const [how, end] of [
    ['exits on purpose leaves no journal', 'process.exit(0)'],
    ['throws leaves the journal of the exception', 'throw new Error("planted")'],
  ] as const) {
    test(`a process that ${how}`, () => {
      const journalFile = join(directory, end);
      const code = `
        const { CrashJournal, Watchdog } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
        const { runForTenant } = await import(${JSON.stringify(import.meta.resolve('@hangar/core'))});
        const file = ${JSON.stringify(journalFile)};
        const journal = new CrashJournal(file);
        new Watchdog({ journal: { file, journal }, onStall: () => {} });
        const activity = { tenant: 'x', user: 'ada', verb: 'patch', resource: 'y' };
        runForTenant(activity, () => setTimeout(() => {
          while (!journal.read());
          ${end};
        }, 200))`;
      const program = join(directory, 'program.mjs');
      writeFileSync(program, code);
      spawnSync(process.execPath, [program], { timeout: 60_000 });
      const record = new CrashJournal(journalFile).read();
      assert.deepEqual(
        record && [record.isCertain, record.reason],
        how.startsWith('exits') ? undefined : [true, 'uncaught exception: planted'],
      );
    });
  }

  test('reports an error of `onStall`, and goes on', async () => {
    const error = new Promise<Error>((resolve) => (failed = resolve));
    told = () => {
      throw new Error('planted');
    };
    const timer = setInterval(() => {}, 1_000);
    ofTenant('w', () => work(300));
    assert.match((await error).message, /planted/);
    clearInterval(timer);
    told = () => {};
    failed = (unexpected) => assert.fail(unexpected);
  });

  test('sleeps while nothing begins, and is awake for the next activity', async () => {
    while (watchdog.isAwake) await new Promise((resolve) => setTimeout(resolve, 50));
    void ofTenant('z', () => work(1));
    assert.equal(watchdog.isAwake, true);
  });

  test('names no tenant for work of no activity', async () => {
    const stall = await stallWith(
      () => work(300),
      ({ parts }) => parts.length > 0,
    );
    assert.equal(
      stall.parts.some(({ activity }) => activity?.isAccountable),
      false,
    );
  });
});
