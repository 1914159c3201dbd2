import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { errorIn } from './error-lines.ts';
import { Output } from './output.ts';
import { OutputBudget } from './output-budget.ts';
import { isRunning, until } from './testing/processes.ts';
import { testPrograms } from './testing/programs.ts';

function output(budget = new OutputBudget(virtualClock()), cluster = 'one') {
  const writes: string[] = [];
  const stream = new PassThrough();
  const out = new Output({ cluster, service: 'controllers', budget, writeLines: (text) => writes.push(text) });
  out.follow(stream);
  const lines = (): string[] => writes.flatMap((text) => text.split(/(?<=\n)/));
  return {
    out,
    stream,
    writes,
    lines,
    async end() {
      stream.end();
      await out.closed;
      return lines();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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
  assert.equal(cut, `[one/controllers] ${'x'.repeat(16 * 1024)}… (truncated)\n`);
  assert.equal(next, '[one/controllers] next\n');
  assert.equal(whole, `[one/controllers] ${'y'.repeat(16 * 1024)}\n`);
});

test('no line can command a terminal or pass for another one', async () => {
  const { stream, end } = output(undefined, 'a\n[b');
  stream.write('\u001b[2J\rforged\u0007\u0085 a\tb\n');
  assert.deepEqual(await end(), ['[a\\x0a[b/controllers] \\x1b[2J\\x0dforged\\x07\\x85 a\tb\n']);
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

test('what came in one piece is written in one', async () => {
  const { stream, writes, end } = output();
  stream.write('a\nb\nc\n');
  await end();
  assert.equal(writes.length, 1);
});

test('lines of nothing cost what lines cost: sixteen floods of them, and one line of another is not late', async () => {
  const clock = virtualClock();
  const budget = new OutputBudget(clock);
  const floods = Array.from({ length: 16 }, () => output(budget, 'loud'));
  const quiet = output(budget, 'quiet');
  const flooded = (): number => floods.reduce((sum, { lines }) => sum + lines().length, 0);
  for (const { stream } of floods) stream.write(Buffer.alloc(4 * 1024 * 1024, '\n'));
  await turn();
  const [perPeriodMax, first] = [4_100, flooded()];
  assert.ok(first > 1_000 && first < perPeriodMax, `${first} lines at once`);
  quiet.stream.write('here\n');
  await turn();
  for (let period = 1; period <= 8; period++) {
    await clock.advance(250);
    await turn();
    if (period === 1) assert.deepEqual(quiet.lines(), ['[quiet/controllers] here\n']);
    assert.ok(flooded() - first < period * perPeriodMax, `${flooded()} lines after ${period} periods`);
  }
  const counts = floods.map(({ lines }) => lines().length);
  assert.ok(Math.max(...counts.slice(4)) - Math.min(...counts.slice(4)) < 100, `all alike: ${counts}`);
  for (const { out } of floods) out.abandon();
});

test('what is made of escapes costs what is written', async () => {
  const { stream, lines, out } = output();
  stream.write(Buffer.alloc(1024 * 1024, '\u0001').fill('\n', 1024 * 1024 - 1));
  for (let i = 0; i < 100; i++) stream.write(`${'\u0001'.repeat(16 * 1024 - 1)}\n`);
  await turn();
  const bytes = lines().reduce((sum, { length }) => sum + length, 0);
  assert.ok(bytes < 400_000, `${bytes} bytes`);
  out.abandon();
});

test('the last words of a program are read at once, and no more than a pipe holds of them', async () => {
  const { out, stream, lines } = output();
  stream.write(Buffer.alloc(1024 * 1024, '\n'));
  await turn();
  assert.ok(stream.isPaused());
  out.drain();
  await out.closed;
  assert.ok(lines().length < 4_000, `${lines().length} lines`);
  assert.match(lines().at(-1)!, /the rest of its output is omitted/);
});

test('a stream that is closed while it is not read loses nothing of a usual length', async () => {
  const { out, stream, lines } = output();
  stream.write(`${'a line of some length, which is what lines are\n'.repeat(1_200)}error: the last\n`);
  await turn();
  assert.ok(stream.isPaused());
  stream.destroy();
  await out.closed;
  assert.equal(lines().length, 1_201);
  assert.equal(out.lastError, 'error: the last');
});

test(
  'programs that print without end are slowed down, and neither others nor this process notice',
  { timeout: 30_000 },
  async (context) => {
    let count = 0;
    const { start } = testPrograms(context, { writeLines: (text) => (count += text.split('\n').length - 1) });
    const loud = await Promise.all(Array.from({ length: 16 }, (_, i) => start(`exec yes ''`, { cluster: `loud${i}` })));
    const [fromMs, from, used] = [performance.now(), count, process.cpuUsage()];
    await until(() => count - from > 20_000, 10_000, 'many lines');
    const { user, system } = process.cpuUsage(used);
    // Sixteen thousand a second.
    assert.ok(performance.now() - fromMs > 900, `${performance.now() - fromMs} ms`);
    assert.ok(user + system < 700_000, `${user + system} µs of a processor`);
    const other = await start('exit 0', { cluster: 'other' });
    assert.equal((await other.ended).code, 0);
    await Promise.all(loud.map((one) => one.stop(2_000)));
    assert.ok(!loud.some(({ pid }) => isRunning(pid)));
  },
);
