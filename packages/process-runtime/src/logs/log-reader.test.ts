import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { systemClock } from '@hangar/core';
import { until } from '../testing/ground.ts';
import { readLog } from './log-reader.ts';
import type { LogReadOptions } from './log-reader.ts';

function logIn(context: TestContext): { path: string; write(...texts: string[]): void } {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-reader-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'main/0.log');
  mkdirSync(dirname(path));
  let second = 0;
  const write = (...texts: string[]): void => {
    for (const text of texts) {
      const time = `2026-01-02T03:04:${String(second++).padStart(2, '0')}.000000000Z`;
      appendFileSync(path, `${time} stdout F ${text}\n`);
    }
  };
  return { path, write };
}

async function textOf(options: Omit<LogReadOptions, 'clock' | 'signal'>): Promise<string> {
  let text = '';
  const { signal } = new AbortController();
  for await (const chunk of readLog({ ...options, clock: systemClock, signal })) text += chunk.toString();
  return text;
}

test('rotated files come first, and options select lines over all files', async (context) => {
  const { path, write } = logIn(context);
  write('a', 'b');
  renameSync(path, `${path}.20260102030405000-000001`);
  write('c', 'd');
  appendFileSync(path, '2026-01-02T03:05:00.000000000Z stdout P long \n2026-01-02T03:05:01.000000000Z stdout F line\n');
  assert.equal(await textOf({ path }), 'a\nb\nc\nd\nlong line\n');
  assert.equal(await textOf({ path, tailLines: 4 }), 'c\nd\nlong line\n');
  assert.equal(await textOf({ path, tailLines: 0 }), '');
  assert.equal(await textOf({ path, sinceMs: Date.parse('2026-01-02T03:04:02Z'), limitBytes: 3 }), 'c\nd');
  assert.equal(
    await textOf({ path, tailLines: 5, isTimestamped: true, limitBytes: 32 }),
    '2026-01-02T03:04:01.000000000Z b',
  );
  assert.equal(await textOf({ path: join(dirname(path), 'none.log') }), '');
});

test('a followed log continues after a rotation without losing a line', async (context) => {
  const { path, write } = logIn(context);
  write('one');
  let isRunning = true;
  let text = '';
  const stop = new AbortController();
  const reading = (async () => {
    const options = { path, isRunning: () => isRunning, clock: systemClock, signal: stop.signal };
    for await (const chunk of readLog(options)) text += chunk.toString();
  })();
  await until('the first line', () => text === 'one\n');
  for (let round = 0; round < 20; round++) {
    // Written to the old file immediately before the rotation, and to the new file immediately after it.
    write(`old ${round}`);
    renameSync(path, `${path}.${round}`);
    write(`new ${round}`);
    await until(`round ${round}`, () => text.endsWith(`new ${round}\n`));
  }
  write('last');
  isRunning = false;
  await reading;
  const expected = Array.from({ length: 20 }, (_, round) => `old ${round}\nnew ${round}\n`).join('');
  assert.equal(text, `one\n${expected}last\n`);
});
