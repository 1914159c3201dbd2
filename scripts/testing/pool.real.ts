import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { runFiles } from './pool.ts';
import type { PoolOptions } from './pool.ts';
import type { FileResult } from './result.ts';

const imports = `import assert from 'node:assert';\nimport { after, before, describe, test } from 'node:test';\n`;

/** Runs files with these contents in one slot, in the order of their names. */
async function run(
  t: TestContext,
  contents: Record<string, string>,
  options: Partial<PoolOptions> = {},
): Promise<Record<string, FileResult>> {
  const root = `${await mkdtemp(join(tmpdir(), 'hangar-test-runner-'))}/`;
  t.after(() => rm(root, { recursive: true }));
  for (const [file, text] of Object.entries(contents)) await writeFile(root + file, imports + text);
  const results = await runFiles(Object.keys(contents).sort(), {
    root,
    limits: { fileMs: 60_000, silenceMs: 60_000 },
    concurrency: 1,
    mayShare: () => true,
    onResult: () => {},
    ...options,
  });
  assert.equal(results.length, Object.keys(contents).length);
  return Object.fromEntries(results.map((result) => [result.file, result]));
}

const namesOf = (result: FileResult | undefined): string[] => result!.failures.map(({ test: name }) => name);

describe('results', () => {
  test('every test counts once, suites do not, and failures have the names of their suites', async (t) => {
    const { 'a.mjs': a } = await run(t, {
      'a.mjs': `
        describe('numbers', () => {
          test('are equal', () => {});
          test('differ', () => assert.equal(1, 2));
        });
        test('has subtests', async (t) => {
          await t.test('passes', () => {});
          await t.test('fails', () => assert.fail('no'));
        });`,
    });
    assert.equal(a!.passed, 2);
    assert.deepEqual(namesOf(a), ['numbers > differ', 'has subtests > fails']);
    assert.match(a!.failures[0]!.text, /1 == 2/);
  });

  test('an uncaught error and an unhandled rejection fail the test that caused them, not the test that runs', async (t) => {
    const { 'a.mjs': a } = await run(t, {
      'a.mjs': `
        import { setTimeout as sleep } from 'node:timers/promises';
        describe('at the same time', { concurrency: true }, () => {
          test('throws in a timer', async () => {
            setTimeout(() => { throw new Error('thrown'); }, 10);
            await sleep(60_000, undefined, { ref: false });
          });
          test('rejects', async () => {
            void sleep(10).then(() => Promise.reject(new Error('rejected')));
            await sleep(60_000, undefined, { ref: false });
          });
          test('passes', () => sleep(500));
        });`,
    });
    assert.deepEqual(namesOf(a).sort(), ['at the same time > rejects', 'at the same time > throws in a timer']);
    assert.deepEqual(a!.failures.map(({ text }) => /thrown|rejected/.exec(text)?.[0]).sort(), ['rejected', 'thrown']);
    assert.equal(a!.passed, 1);
  });

  test('a skipped test is a failure', async (t) => {
    const { 'a.mjs': a } = await run(t, { 'a.mjs': `test('later', { skip: true }, () => {}); test('now', () => {});` });
    assert.equal(a!.passed, 1);
    assert.deepEqual(namesOf(a), ['later']);
  });

  test('a file that cannot be loaded, and a hook that throws, are failures', async (t) => {
    const results = await run(t, {
      'a.mjs': `await import('./missing.mjs');`,
      'b.mjs': `before(() => { throw new Error('no server'); }); test('never runs', () => {});`,
    });
    assert.deepEqual(namesOf(results['a.mjs']), ['(load)']);
    assert.match(results['a.mjs']!.failures[0]!.text, /missing\.mjs/);
    assert.ok(namesOf(results['b.mjs']).length > 0);
  });
});

describe('files in one process', () => {
  test('share it, and hooks of one file do not run for another', async (t) => {
    const file = `
      before(() => (globalThis.hooks = (globalThis.hooks ?? 0) + 1));
      after(() => assert.ok(globalThis.pid === undefined || globalThis.pid === process.pid));
      test('in the process of the first', () => (globalThis.pid = process.pid));`;
    const results = await run(t, {
      'a.mjs': file,
      'b.mjs': `${file} test('hooks', () => assert.equal(globalThis.hooks, 2));`,
    });
    assert.deepEqual(Object.values(results).flatMap(namesOf), []);
    assert.equal(results['b.mjs']!.passed, 2);
  });

  for (const [what, text] of [
    ['a changed environment', `test('a', () => { process.env.LEFT = '1'; });`],
    ['a listener', `test('a', () => { process.on('SIGUSR2', () => {}); globalThis.left = 1; });`],
    ['a patched built-in', `test('a', () => { Date.now = () => 0; globalThis.left = 1; });`],
    ['an open handle', `test('a', () => { setTimeout(() => {}, 4000); globalThis.left = 1; });`],
  ] as const) {
    test(`${what} is not seen by the next file`, async (t) => {
      const next = `test('b', () => assert.ok(!process.env.LEFT && !globalThis.left));`;
      const results = await run(t, { 'a.mjs': text, 'b.mjs': next });
      assert.deepEqual(Object.values(results).flatMap(namesOf), []);
    });
  }

  test('an error after the last test is a failure of the file that caused it, and of no other', async (t) => {
    const results = await run(t, {
      'a.mjs': `test('a', () => { setTimeout(() => { throw new Error('too late'); }, 20); });`,
      'b.mjs': `test('b', () => {});`,
    });
    assert.deepEqual(namesOf(results['a.mjs']), ['(outside of every test)']);
    assert.match(results['a.mjs']!.failures[0]!.text, /too late/);
    assert.deepEqual(namesOf(results['b.mjs']), []);
  });

  test('a crash is a failure of the running test; the next file runs in a new process', async (t) => {
    const results = await run(t, {
      'a.mjs': `test('passes', () => {}); test('exits', () => process.exit(0));`,
      'b.mjs': `test('b', () => {});`,
    });
    assert.equal(results['a.mjs']!.passed, 1);
    assert.deepEqual(namesOf(results['a.mjs']), ['exits']);
    assert.equal(results['a.mjs']!.failures[0]!.text, 'the process exited with code 0');
    assert.equal(results['b.mjs']!.passed, 1);
  });
});

describe('exclusive files', () => {
  test('run one at a time of each group, and another file runs beside them', async (t) => {
    const running = await mkdtemp(join(tmpdir(), 'hangar-test-runner-'));
    t.after(() => rm(running, { recursive: true }));
    const exclusive = (group: string) => `
      import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      test('runs', async () => {
        closeSync(openSync('${running}/${group}', 'wx'));
        while (!existsSync('${running}/beside')) await sleep(5);
        rmSync('${running}/${group}');
      });`;
    const beside = `
      import { existsSync, writeFileSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      test('runs', async () => {
        while (!existsSync('${running}/first') || !existsSync('${running}/second')) await sleep(5);
        writeFileSync('${running}/beside', '');
      });`;
    const results = await run(
      t,
      {
        'a-beside.mjs': beside,
        'b-first.mjs': exclusive('first'),
        'c-first.mjs': exclusive('first'),
        'd-second.mjs': exclusive('second'),
        'e-second.mjs': exclusive('second'),
      },
      { concurrency: 4, mayShare: () => false, exclusiveGroup },
    );
    assert.deepEqual(Object.values(results).flatMap(namesOf), []);
  });

  function exclusiveGroup(file: string): number | undefined {
    const at = ['first', 'second'].findIndex((group) => file.includes(group));
    return at === -1 ? undefined : at;
  }
});

describe('files that hang', () => {
  test('a test without progress fails by its name, and what it started is stopped', async (t) => {
    const results = await run(
      t,
      {
        'a.mjs': `
          import { spawn } from 'node:child_process';
          test('starts', () => { console.log('pid', spawn('sleep', ['600'], { stdio: 'ignore' }).pid); });
          test('hangs', () => new Promise((resolve) => setTimeout(resolve, 600_000)));`,
        'b.mjs': `test('b', () => {});`,
      },
      { limits: { fileMs: 60_000, silenceMs: 3_000 } },
    );
    const [, pid] = /pid (\d+)/.exec(results['a.mjs']!.output)!;
    assert.deepEqual(namesOf(results['a.mjs']), ['hangs']);
    assert.equal(results['a.mjs']!.failures[0]!.text, 'no result and no output for 3 s');
    assert.equal(results['b.mjs']!.passed, 1);
    await gone(Number(pid));
  });

  test('a process that does not exit after its last test fails its file', async (t) => {
    const { 'a.mjs': a } = await run(
      t,
      { 'a.mjs': `test('a', () => { setInterval(() => {}, 1000); });` },
      { limits: { fileMs: 60_000, silenceMs: 4_000 } },
    );
    assert.equal(a!.passed, 1);
    assert.deepEqual(namesOf(a), ['(after the last test)']);
    assert.match(a!.failures[0]!.text, /did not exit after the last test: open handle Timeout/);
  });
});

/** Waits until no process has this id. A killed process keeps its id until its parent or init has read its exit status. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
