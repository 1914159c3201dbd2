import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { readCommandLine, Usage, wholeNumber } from './command-line.ts';

const command = {
  usage: 'npm run thing --',
  names: ['red', 'blue'],
  options: {
    count: { value: 'N', help: 'how many' },
    form: { value: 'FORM', choices: ['round', 'square'], help: 'which form' },
    quick: { help: 'less' },
  },
} as const;

describe('a command line', () => {
  test('has options and names in any order', () => {
    const { values, names } = readCommandLine(['red', '--quick', '--count', '3', 'blue'], command);
    assert.deepEqual({ ...values }, { quick: true, count: '3' });
    assert.deepEqual(names, ['red', 'blue']);
  });

  test('--help ends with the usage text and code 0', () => {
    const usage = refused(['--help']);
    assert.equal(usage.exitCode, 0);
    assert.match(usage.message, /^usage: npm run thing -- \[options\] \[red\|blue …\]\n\n {2}--count N +how many\n/);
  });

  for (const [args, message] of [
    [['--nope'], /^Unknown option '--nope'\n\nusage: npm run thing/],
    [['--count'], /^Option '--count <value>' argument missing\n\nusage: /],
    [['--quick=yes'], /^Option '--quick' does not take an argument\n\nusage: /],
    [['green'], /^unknown name "green"\n\nusage: /],
    [['--form', 'flat'], /^--form is one of round, square, not "flat"\n\nusage: /],
  ] as const) {
    test(`${args.join(' ')} ends with the reason, the usage text and code 2`, () => {
      const usage = refused(args);
      assert.equal(usage.exitCode, 2);
      assert.match(usage.message, message);
    });
  }

  test('numbers are whole ones', () => {
    assert.equal(wholeNumber('count', '17', undefined), 17);
    assert.equal(wholeNumber('count', undefined, 5), 5);
    for (const text of ['', 'x', '1.5', '-1', '1e300']) {
      assert.throws(() => wholeNumber('count', text, 5), { name: 'Usage', exitCode: 2 }, text);
    }
  });
});

describe('sim, fuzz and bench', () => {
  for (const script of ['scripts/sim.ts', 'scripts/fuzz.ts', 'bench/main.ts']) {
    test(`${script} prints its usage for --help and for a wrong command line`, async () => {
      const help = await run(script, '--help');
      assert.deepEqual({ code: help.code, stderr: help.stderr }, { code: 0, stderr: '' });
      assert.match(help.stdout, /^usage: npm run /);
      const wrong = await run(script, '--no-such-option');
      assert.deepEqual({ code: wrong.code, stdout: wrong.stdout }, { code: 2, stdout: '' });
      assert.match(wrong.stderr, /no-such-option.*\n\nusage: npm run /);
      assert.doesNotMatch(wrong.stderr, /\n {4}at /);
    });
  }
});

function refused(args: readonly string[]): Usage {
  try {
    readCommandLine(args, command);
  } catch (error) {
    assert.ok(error instanceof Usage);
    return error;
  }
  assert.fail('accepted');
}

function run(script: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const root = new URL('..', import.meta.url);
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], { cwd: root }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode!, stdout, stderr });
    });
  });
}
