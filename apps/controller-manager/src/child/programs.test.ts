import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { hasCode } from '@hangar/core';
import { isRunning, recordBeside, until } from './testing/processes.ts';
import { owned, scripted, stubborn, temporaryFolder, testPrograms, waiting } from './testing/programs.ts';

test('a program runs in a folder and on a separate port, and nothing is left of it when it was stopped', async (context) => {
  const { start, workDir } = testPrograms(context);
  const program = await start(waiting, { files: { kubeconfig: 'secret' } });
  assert.ok(isRunning(program.pid));
  assert.ok(program.port >= 22_000 && program.port <= 22_999);
  assert.ok(Math.abs(program.startedAt.getTime() - Date.now()) < 5_000);
  const { keeper } = recordBeside(program.folder);
  for (const folder of [program.folder, dirname(program.folder), join(workDir, 'children')]) {
    assert.equal(statSync(folder).mode & 0o777, 0o700, folder);
  }
  for (const file of [join(program.folder, 'kubeconfig'), join(program.folder, '../record.json')]) {
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  }

  await program.stop(5_000);
  assert.deepEqual(await program.ended, {
    cause: 'stopped',
    code: undefined,
    signal: 'SIGTERM',
    lastError: undefined,
  });
  assert.ok(!isRunning(program.pid) && !isRunning(keeper.pid));
  assert.deepEqual(readdirSync(join(workDir, 'children')), []);
  await program.stop(0); // Also afterwards.
});

test('a program that is told to end and does so is told once, and keeps its exit code', async (context) => {
  const { start, lines } = testPrograms(context);
  const program = await start(`trap 'echo told; sleep 0.1; exit 3' TERM; echo ready; while :; do sleep 0.02; done`);
  await until(() => lines.includes('[one/controllers] ready\n'), 2_000, 'ready');
  await Promise.all([program.stop(5_000), program.stop(6_000)]);
  const { cause, code } = await program.ended;
  assert.deepEqual({ cause, code }, { cause: 'stopped', code: 3 });
  assert.equal(lines.filter((line) => line.endsWith('told\n')).length, 1);
});

test('a program that does not end is killed after the grace, and the shorter of two graces counts', async (context) => {
  const { start, lines } = testPrograms(context);
  const program = await start(stubborn);
  await until(() => lines.length > 0, 2_000, 'ready');
  const fromMs = performance.now();
  void program.stop(60_000);
  await program.stop(200);
  const tookMs = performance.now() - fromMs;
  assert.ok(tookMs >= 195 && tookMs < 1_500, `${tookMs}`);
  const { cause, signal } = await program.ended;
  assert.deepEqual({ cause, signal }, { cause: 'stopped', signal: 'SIGKILL' });
});

test('a program that is told to end as soon as it is there never misses it', async (context) => {
  const { start } = testPrograms(context);
  // The signal reaches it, or the shell that is about to become it; and the shell that waits for it at the same moment.
  const stopAtOnce = async (cluster: string): Promise<void> => {
    for (let round = 0; round < 10; round++) {
      const program = await start('', { cluster, executable: '/bin/sleep', arguments: () => ['1000'] });
      await program.stop(60_000);
      assert.equal((await program.ended).signal, 'SIGTERM');
    }
  };
  await Promise.all(['one', 'two', 'three', 'four'].map(stopAtOnce));
});

test('a program that exits by itself is told of at once, with its code or its signal', async (context) => {
  const { start } = testPrograms(context);
  for (const [script, code, signal] of [
    ['exit 0', 0, undefined],
    ['sleep 0.05; exit 7', 7, undefined],
    ['exit 255', 255, undefined],
    ['kill -SEGV $$', undefined, 'SIGSEGV'],
    ['kill -KILL $$', undefined, 'SIGKILL'],
  ] as const) {
    const fromMs = performance.now();
    const { ended } = await start(script);
    assert.deepEqual(await ended, { cause: 'exited', code, signal, lastError: undefined }, script);
    // Far less than the time between two heartbeats.
    assert.ok(performance.now() - fromMs < 900, script);
  }
});

test('processes that the program leaves behind in its group end with it', async (context) => {
  const { start, lines } = testPrograms(context);
  const { ended } = await start('sleep 1000 & echo $!');
  assert.equal((await ended).cause, 'exited');
  const stray = Number(lines[0]!.split(' ')[1]);
  await until(() => !isRunning(stray), 1_000, 'the stray is gone');
});

test('a process that left the group and holds the output open delays nothing', async (context) => {
  const { start } = testPrograms(context);
  const fromMs = performance.now();
  const { ended } = await start('setsid sleep 5 & exit 0');
  assert.equal((await ended).code, 0);
  assert.ok(performance.now() - fromMs < 4_000);
});

test('the program sees its own name, signals as they are by default, no files of ours, and no environment of ours', async (context) => {
  process.env['SECRET_OF_OURS'] = 'x';
  context.after(() => delete process.env['SECRET_OF_OURS']);
  const { start, lines } = testPrograms(context, {
    env: { PATH: process.env['PATH'], GOMAXPROCS: '2', SECRET_OF_OURS: 'x' },
  });
  const { ended, folder } = await start('', {
    argv0: 'hangar-controller-manager.peer',
    memoryLimitBytes: 1_000_000_000,
    executable: process.execPath,
    arguments: () => [
      '-e',
      `const { readFileSync, readdirSync, readlinkSync } = require('fs');
       const status = readFileSync('/proc/self/status', 'utf8');
       console.log(JSON.stringify({
         argv0: process.argv0, env: process.env, cwd: process.cwd(), ignored: /SigIgn:\\s*(\\w+)/.exec(status)[1],
         input: readlinkSync('/proc/self/fd/0'), voucher: readlinkSync('/proc/self/fd/3').startsWith('socket:'),
       }))`,
    ],
  });
  assert.equal((await ended).code, 0, lines.join(''));
  const seen = JSON.parse(lines[0]!.slice('[one/controllers] '.length)) as Record<string, unknown>;
  const { PATH, ...env } = seen['env'] as Record<string, string>;
  assert.equal(PATH, process.env['PATH']);
  assert.deepEqual(env, { HOME: folder, TMPDIR: folder, PWD: folder, GOMAXPROCS: '2', GOMEMLIMIT: '900000000' });
  assert.equal(seen['argv0'], 'hangar-controller-manager.peer');
  assert.equal(seen['cwd'], folder);
  assert.equal(seen['input'], '/dev/null');
  assert.equal(seen['voucher'], false);
  // Node itself ignores SIGPIPE, which is the 13th, and SIGXFSZ, the 25th.
  assert.equal(Number.parseInt(String(seen['ignored']), 16) & ~((1 << 12) | (1 << 24)), 0);
});

test('there is one program of a cluster and service at a time; the next begins when the last has ended', async (context) => {
  const { start } = testPrograms(context);
  const first = start(waiting);
  await assert.rejects(start(waiting), { code: 'AlreadyRunning' });
  const program = await first;
  await assert.rejects(start(waiting), { code: 'AlreadyRunning' });
  const others = await Promise.all([start(waiting, { service: 'scheduler' }), start(waiting, { cluster: 'two' })]);
  assert.equal(new Set([program, ...others].map(({ port }) => port)).size, 3);
  const stopping = program.stop(1_000);
  await assert.rejects(start(waiting), { code: 'AlreadyRunning' });
  await stopping;
  assert.ok(isRunning((await start(waiting)).pid));
});

test('what cannot be started is refused, and leaves nothing behind', async (context) => {
  const { start, programs, workDir } = testPrograms(context, { ports: { from: 22_000, to: 22_001 } });
  const failing = (): string[] => {
    throw new RangeError('no arguments');
  };
  for (const [what, options, code] of [
    ['a program that is not there', { executable: '/nowhere/program' }, 'ExecutableMissing'],
    ['a folder', { executable: '/bin' }, 'ExecutableMissing'],
    ['a file in another folder', { files: { '../x': '' } }, 'InvalidFile'],
    ['the folder itself', { files: { '..': '' } }, 'InvalidFile'],
    ['a word that no program can be given', { arguments: () => ['a\0b'] }, 'StartFailed'],
    ['more words than the system takes', { arguments: () => ['x'.repeat(300_000)] }, 'StartFailed'],
    ['arguments that cannot be made', { arguments: failing }, 'StartFailed'],
    ['no time left', { ownership: owned(250) }, 'Fenced'],
    ['a signal that has fired', { ownership: { ...owned(), signal: AbortSignal.abort() } }, 'Aborted'],
  ] as const) {
    await assert.rejects(programs.start(scripted(waiting, options)), (error) => hasCode(error, code), what);
    assert.deepEqual(readdirSync(join(workDir, 'children')), [], what);
  }
  const all = await Promise.all([start(waiting), start(waiting, { service: 'scheduler' })]);
  await assert.rejects(start(waiting, { cluster: 'two' }), { code: 'NoFreePort' });
  await all[0].stop(1_000);
  await start(waiting, { cluster: 'two' });
});

test('a file that is no program ends by itself, and says why', async (context) => {
  const { start, workDir } = testPrograms(context);
  const { ended } = await start('', { executable: '/bin/true', arguments: () => [] });
  assert.equal((await ended).code, 0);
  const file = join(workDir, 'foreign');
  writeFileSync(file, Buffer.from('7f454c46', 'hex'), { mode: 0o755 });
  const end = await (await start('', { executable: file, arguments: () => [] })).ended;
  assert.equal(end.cause, 'exited');
  assert.equal(end.code, 126);
  assert.match(end.lastError!, /Exec format error/);
});

test('clusters with hostile names have folders of their own, inside of the work directory', async (context) => {
  const { start, workDir } = testPrograms(context);
  const names = [
    '../x',
    '../../etc',
    '/',
    '..',
    '.',
    '',
    'a\0b',
    'a\nb',
    `${'long'.repeat(100)}1`,
    `${'long'.repeat(100)}2`,
  ];
  const all = await Promise.all(names.map((cluster) => start(waiting, { cluster })));
  assert.equal(new Set(all.map(({ folder }) => folder)).size, names.length);
  for (const { folder } of all) {
    assert.ok(existsSync(folder));
    assert.equal(dirname(dirname(folder)), join(workDir, 'children'));
  }
  await Promise.all(all.map((program) => program.stop(1_000)));
  assert.deepEqual(readdirSync(join(workDir, 'children')), []);
});

test('without bash nothing is started, and it is said what is missing', async (context) => {
  const { programs } = testPrograms(context, { env: { PATH: temporaryFolder(context) } });
  await assert.rejects(programs.cleanUp(), { code: 'NotSupported', message: /bash was not found in PATH/ });
  await assert.rejects(programs.start(scripted(waiting)), { code: 'NotSupported' });
});

test('a program above its memory limit is ended, and the others are not', { timeout: 20_000 }, async (context) => {
  const { start } = testPrograms(context);
  const hungry = `const kept = []; setInterval(() => kept.push(Buffer.alloc(8 << 20, 1)), 5)`;
  const [small, large] = await Promise.all([
    start(waiting, { memoryLimitBytes: 64 << 20 }),
    start('', {
      cluster: 'two',
      executable: process.execPath,
      arguments: () => ['-e', hungry],
      memoryLimitBytes: 256 << 20,
    }),
  ]);
  const { cause, signal } = await large.ended;
  assert.deepEqual({ cause, signal }, { cause: 'memory', signal: 'SIGKILL' });
  assert.ok(isRunning(small.pid));
});
