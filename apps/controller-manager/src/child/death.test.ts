/** Kills the process that runs programs, keepers, guards, or all of them at once. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bootId, identityOf, membersOf } from '@hangar/programs';
import type { ProgramRecord } from './records.ts';
import { guardOf, isRunning, recordBeside, until } from './testing/processes.ts';
import { temporaryFolder, testPrograms, waiting } from './testing/programs.ts';

interface Said {
  readonly leftBehind: number;
  readonly pid: number;
  readonly folder: string;
  readonly cause?: string;
  readonly code?: string;
  readonly message?: string;
}

interface Parent {
  readonly process: ChildProcess;
  /** Returns the next line that it prints. */
  next(): Promise<Said>;
}

function parent(context: TestContext, workDir: string, remainingMs = Infinity): Parent {
  const script = fileURLToPath(new URL('testing/parent.ts', import.meta.url));
  const child = spawn(process.execPath, [script, workDir, String(remainingMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  return {
    process: child,
    async next() {
      const { value, done } = await lines.next();
      assert.ok(!done, 'the parent has ended');
      return JSON.parse(value as string) as Said;
    },
  };
}

const isGone = ({ keeper }: ProgramRecord): boolean => membersOf(keeper.pid).length === 0;

test('a parent that is killed takes its programs with it, and the next one removes what is left', async (context) => {
  const workDir = temporaryFolder(context);
  const first = parent(context, workDir);
  const { pid, folder } = await first.next();
  const record = recordBeside(folder);
  assert.equal(record.program?.pid, pid);
  first.process.kill('SIGKILL');
  const tookMs = await until(() => isGone(record), 1_000, 'program and keeper are gone');
  context.diagnostic(`gone ${tookMs.toFixed(0)} ms after SIGKILL of the parent`);
  assert.ok(existsSync(folder));
  const second = await parent(context, workDir).next();
  assert.equal(second.leftBehind, 1);
  assert.ok(isRunning(second.pid));
});

test('a parent that stands still loses its programs before their time is over, and hears of it later', async (context) => {
  const one = parent(context, temporaryFolder(context), 2_000);
  const { folder } = await one.next();
  const record = recordBeside(folder);
  one.process.kill('SIGSTOP');
  const tookMs = await until(() => isGone(record), 3_000, 'gone');
  context.diagnostic(`gone ${tookMs.toFixed(0)} ms after SIGSTOP of the parent`);
  assert.ok(tookMs > 500 && tookMs < 2_300, `${tookMs}`);
  one.process.kill('SIGCONT');
  assert.equal((await one.next()).cause, 'fenced');
  assert.ok(!existsSync(folder));
});

test('a program does not outlive its keeper or its guard', async (context) => {
  const { start, workDir } = testPrograms(context);
  for (const victimOf of [({ keeper }: ProgramRecord) => keeper.pid, guardOf]) {
    const program = await start(waiting);
    const record = recordBeside(program.folder);
    process.kill(victimOf(record), 'SIGKILL');
    const { cause, signal } = await program.ended;
    assert.deepEqual({ cause, signal }, { cause: 'exited', signal: 'SIGKILL' });
    assert.ok(isGone(record));
    assert.deepEqual(readdirSync(join(workDir, 'children')), []);
  }
});

test('a parent that dies together with keeper and guard leaves a program behind, which the next one ends', async (context) => {
  const workDir = temporaryFolder(context);
  const first = parent(context, workDir);
  const { pid, folder } = await first.next();
  const record = recordBeside(folder);
  const guard = guardOf(record);
  // Stopped first: none of them may act before all are dead.
  for (const one of [first.process.pid!, guard, record.keeper.pid]) process.kill(one, 'SIGSTOP');
  for (const one of [first.process.pid!, guard, record.keeper.pid]) process.kill(one, 'SIGKILL');
  await until(() => !isRunning(guard) && !isRunning(record.keeper.pid), 1_000, 'keeper and guard are gone');
  assert.ok(isRunning(pid));

  const { leftBehind, pid: nextPid } = await parent(context, workDir).next();
  assert.equal(leftBehind, 1);
  assert.ok(!isRunning(pid));
  assert.ok(isRunning(nextPid));
});

test('a process that has the number of one of ours by now is spared', async (context) => {
  const { programs, workDir } = testPrograms(context);
  const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  context.after(() => stranger.kill('SIGKILL'));
  const { pid, startTime } = identityOf(stranger.pid!)!;
  const was = { pid, startTime: startTime - 1 };
  const leave = (key: string, record: unknown): void => {
    mkdirSync(join(workDir, 'children', key), { recursive: true });
    writeFileSync(join(workDir, 'children', key, 'record.json'), JSON.stringify(record));
  };
  const about = { bootId: bootId(), cluster: 'one', service: 'controllers' };
  leave('another-start', { ...about, keeper: was, program: was });
  leave('another-boot', { ...about, bootId: 'before', keeper: { pid, startTime }, program: { pid, startTime } });
  leave('everybody', { ...about, keeper: { pid: 1, startTime: 0 }, program: { pid: -1, startTime: 0 } });
  leave('nonsense', 'what?');
  mkdirSync(join(workDir, 'children', 'nothing'));
  assert.equal(await programs.cleanUp(), 5);
  assert.ok(isRunning(pid));
  assert.deepEqual(readdirSync(join(workDir, 'children')), []);
});

test('a work directory has one process at a time, and the second is told which', async (context) => {
  const workDir = temporaryFolder(context);
  const first = parent(context, workDir);
  const { pid } = await first.next();
  const refused = await parent(context, workDir).next();
  assert.equal(refused.code, 'WorkDirInUse');
  assert.match(refused.message!, new RegExp(`in use by process ${first.process.pid}\\b`));
  assert.ok(isRunning(pid));
});
