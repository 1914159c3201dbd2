import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { errorIn } from './error-lines.ts';
import { Output } from './output.ts';
import { isRunning, until } from './testing/processes.ts';
import { testPrograms } from './testing/programs.ts';

function output() {
  const lines: string[] = [];
  const stream = new PassThrough();
  const out = new Output({ cluster: 'one', service: 'controllers', writeLine: (line) => lines.push(line) });
  out.follow(stream);
  return {
    out,
    stream,
    lines,
    async end() {
      stream.end();
      await out.closed;
      return lines;
    },
  };
}

test('each line has its prefix, wherever it was torn apart, and the last one need not end', async () => {
  const { stream, end } = output();
  for (const piece of ['on', 'e\ntwo\r\n\nthr', 'ee']) stream.write(piece);
  assert.deepEqual(await end(), [
    '[one/controllers] one\n',
    '[one/controllers] two\n',
    '[one/controllers] \n',
    '[one/controllers] three\n',
  ]);
});

test('a character that was torn apart is whole again', async () => {
  const { stream, end } = output();
  const [first, second] = Buffer.from('ö');
  stream.write(Buffer.from([first!]));
  stream.write(Buffer.from([second!, 0x0a]));
  assert.deepEqual(await end(), ['[one/controllers] ö\n']);
});

test('a line above 16 KiB is cut, whatever it is made of, and the next one is whole', async () => {
  const { stream, end } = output();
  for (let i = 0; i < 100; i++) stream.write('x'.repeat(10_000));
  stream.write(`\nnext\n${'y'.repeat(16 * 1024)}\n`);
  const [cut, next, whole] = await end();
  assert.equal(cut, `[one/controllers] ${'x'.repeat(16 * 1024)}… (cut)\n`);
  assert.equal(next, '[one/controllers] next\n');
  assert.equal(whole, `[one/controllers] ${'y'.repeat(16 * 1024)}\n`);
});

test('no line can command a terminal or pass for another one', async () => {
  const lines: string[] = [];
  const stream = new PassThrough();
  const out = new Output({ cluster: 'a\n[b', service: 'controllers', writeLine: (line) => lines.push(line) });
  out.follow(stream);
  stream.end('\u001b[2J\rforged\u0007\u0085 a\tb\n');
  await out.closed;
  assert.deepEqual(lines, ['[a\\x0a[b/controllers] \\x1b[2J\\x0dforged\\x07\\x85 a\tb\n']);
});

test('lines that look like errors are known, and told without their time and place', () => {
  for (const [line, error] of [
    ['E1116 16:00:00.123456   12345 run.go:72] "command failed" err="no server"', '"command failed" err="no server"'],
    ['F1116 16:00:00.123456       1 controllermanager.go:1] error building', 'error building'],
    ['I1116 16:00:00.123456       1 a.go:1] Error: no', undefined],
    ['W1116 16:00:00.123456       1 a.go:1] error: no', undefined],
    ['Error: unknown flag: --x', 'Error: unknown flag: --x'],
    ['error: something', 'error: something'],
    ['panic: runtime error: index out of range', 'panic: runtime error: index out of range'],
    ['fatal error: all goroutines are asleep - deadlock!', 'fatal error: all goroutines are asleep - deadlock!'],
    ['/x/keeper.sh: line 50: /y: cannot execute', '/y: cannot execute'],
    ['{"ts":1,"caller":"a.go:1","msg":"command failed","err":"no server"}', 'command failed: no server'],
    ['{"ts":1,"caller":"a.go:1","msg":"fine","v":0}', undefined],
    ['{"msg": broken', undefined],
    ['everything is fine, no error: at all', undefined],
    [`error: ${'x'.repeat(10_000)}`, `error: ${'x'.repeat(493)}`],
  ] as const) {
    assert.equal(errorIn(line), error, line);
  }
});

test('the last error of a program is told when it has ended', async (context) => {
  const { start } = testPrograms(context);
  const { ended } = await start(`echo 'error: first'; echo 'E1116 16:00:00.1 1 a.go:1] second' >&2; echo well; exit 1`);
  const { lastError, code } = await ended;
  assert.equal(code, 1);
  assert.ok(['second', 'error: first'].includes(lastError!));
});

test(
  'a program that prints without end is slowed down, its memory here stays small, and others are served',
  { timeout: 20_000 },
  async (context) => {
    let bytes = 0;
    const { start } = testPrograms(context, { writeLine: (line) => (bytes += line.length) });
    const loud = await start('exec yes a line of some forty characters, many times');
    const fromMs = performance.now();
    await until(() => bytes > 8_000_000, 10_000, 'eight megabytes');
    // Four a second, and the first four at once.
    assert.ok(performance.now() - fromMs > 400);
    const other = await start('exit 0', { cluster: 'two' });
    assert.equal((await other.ended).code, 0);
    await loud.stop(2_000);
    assert.ok(!isRunning(loud.pid));
  },
);
