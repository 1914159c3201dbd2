import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readArguments } from './arguments.ts';
import { commands, findCommand } from './commands/index.ts';
import { durationMs } from './commands/common/timeout.ts';
import { describeCommands } from './describe-commands.ts';
import { explain } from './explain.ts';
import { hangar } from './hints.ts';
import { openTestWorld } from './testing/test-session.ts';

const read = (name: string, ...words: string[]) => readArguments(findCommand(name)!, words);

describe('a command line', () => {
  test('has options anywhere, and what is on by itself can be turned off', () => {
    const given = read('create', '--class', 'x', 'demo', '--no-wait', '-o', 'file');
    assert.deepEqual(given.args, ['demo']);
    assert.deepEqual([given.text('class'), given.text('output'), given.flag('wait')], ['x', 'file', false]);
    assert.equal(read('create', 'demo').flag('wait'), true);
    assert.deepEqual(read('get', '--', '--odd').args, ['--odd']);
  });

  for (const [words, message] of [
    [['create'], /create requires NAME/],
    [['create', 'a', 'b'], /create: unexpected argument "b"/],
    [['create', 'a', '--clas', 'x'], /create: unknown option "--clas"/],
    [['create', 'a', '--class'], /create: .*--class.*argument missing/],
    [['create', 'a', '--wait=1'], /create: .*--wait/],
    [['create', 'a', '--class='], /--class must not be empty/],
    [['create', 'a', '--deletion-policy', 'Burn'], /must be Retain or Destroy, not "Burn"/],
    [['get', '-o', 'xml'], /--output must be json or yaml or name or wide/],
    [['create', 'a', '--\u001b[2J'], /unknown option "--\\x1b\[2J"/],
  ] as const) {
    test(`${JSON.stringify(words)} is refused`, () => {
      assert.throws(() => read(...(words as unknown as [string])), { code: 'Usage', message });
    });
  }

  test('without a command is the overview, and with an unknown one an error', async () => {
    await using world = await openTestWorld({ isBare: true });
    const overview = await world.run();
    assert.equal(overview.code, 0);
    for (const { name, isHidden } of commands) assert.equal(overview.out.includes(`\n  ${name} `), !isHidden, name);
    for (const words of [['--help'], ['help'], ['-h']]) assert.equal((await world.run(...words)).out, overview.out);
    const wrong = await world.run('crate');
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /unknown command "crate"\n +did you mean create\?/);
    assert.match((await world.run('\u001b]0;x\u0007')).err, /unknown command "\\x1b\]0;x\\x07"/);
  });

  for (const { name } of commands) {
    test(`${name} explains itself, with exit codes`, async () => {
      await using world = await openTestWorld({ isBare: true });
      const { code, out } = await world.run(name, '--help');
      assert.equal(code, 0);
      assert.match(out, /Usage:\n {2}hangar .*\n[^]*Exit codes:\n {2}0 /);
      assert.ok(out.split('\n').every((line) => line.length <= 100));
    });
  }
});

test('times are read, and what is none is refused', () => {
  assert.deepEqual(
    ['90', '90s', '1.5m', '1h30m', '250ms'].map((text) => durationMs('timeout', text)),
    [90_000, 90_000, 90_000, 5_400_000, 250],
  );
  for (const text of ['', '0', '-1s', '1d', '1e9s', '25h', 's', '9'.repeat(400)]) {
    assert.throws(() => durationMs('timeout', text), { code: 'Usage' }, text);
  }
});

test('commands are data that can be written down', () => {
  const described = describeCommands();
  assert.deepEqual(JSON.parse(JSON.stringify(described)), described);
  const create = described.find(({ name }) => name === 'create')!;
  assert.equal(create.usage, 'create NAME [options]');
  assert.ok(create.options.some(({ text }) => text === '--no-wait'));
  assert.ok(described.every(({ name, summary }) => !name.startsWith('_') && !summary.endsWith('.')));
  for (const { options } of described) {
    const names = options.flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [`-${short}`])]);
    assert.equal(new Set(names).size, names.length);
  }
});

test('what goes wrong has an exit code, and what to do next', () => {
  const coded = (code: string, message = 'why') => Object.assign(new Error(message), { code });
  assert.deepEqual(explain(coded('ConnectionFailed', 'ECONNREFUSED')), {
    exitCode: 1,
    message: 'the server cannot be reached: ECONNREFUSED',
    next: `check that it is running; start it with: ${hangar('up')}`,
  });
  assert.deepEqual(explain(coded('Aborted')), { exitCode: 130 });
  assert.deepEqual(explain('a text'), { exitCode: 1, message: 'a text' });
  assert.deepEqual(explain(undefined), { exitCode: 1, message: 'undefined' });
  assert.equal(explain(new Error('')).message, 'unknown error');
});
