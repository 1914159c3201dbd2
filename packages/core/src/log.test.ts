import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logger } from './log.ts';
import type { LogFormat, LogLevel } from './log.ts';

function logger(level: LogLevel, format: LogFormat): { lines: string[]; log: Logger } {
  const lines: string[] = [];
  const clock = { now: () => Date.UTC(2026, 0, 2) };
  return { lines, log: new Logger({ level, format, clock, write: (line) => lines.push(line) }) };
}

test('a line of JSON has the keys that readers of such logs expect', () => {
  const { lines, log } = logger('info', 'json');
  log.child({ plane: 'root' }).warn('disk is slow', { ms: 12 });
  assert.deepEqual(JSON.parse(lines[0]!), {
    level: 40,
    time: Date.UTC(2026, 0, 2),
    plane: 'root',
    ms: 12,
    msg: 'disk is slow',
  });
  assert.ok(lines[0]!.endsWith('}\n'));
});

test('what is below the level is not written', () => {
  const { lines, log } = logger('warn', 'json');
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  assert.equal(lines.length, 2);
  assert.equal(log.isOn('info'), false);
  const silent = logger('silent', 'text');
  silent.log.error('never');
  assert.deepEqual(silent.lines, []);
});

test('errors are written with their stacks', () => {
  const { lines, log } = logger('info', 'json');
  log.error('failed', { error: new TypeError('no such thing') });
  const { error } = JSON.parse(lines[0]!) as { error: { type: string; message: string; stack: string } };
  assert.equal(error.type, 'TypeError');
  assert.equal(error.message, 'no such thing');
  assert.match(error.stack, /log\.test\.ts/);
});

test('no message can forge a line', () => {
  for (const format of ['json', 'text'] as const) {
    const { lines, log } = logger('info', format);
    log.info('one\ntwo\u001b[2J', { name: 'a\nb' });
    assert.equal(lines[0]!.trimEnd().split('\n').length, 1);
    assert.ok(!lines[0]!.includes('\u001b'));
  }
});

test('text is for people', () => {
  const { lines, log } = logger('info', 'text');
  log.info('started', { port: 6443 });
  assert.equal(lines[0], '2026-01-02T00:00:00.000Z INFO  started port=6443\n');
});
