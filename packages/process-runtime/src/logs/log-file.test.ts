import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Logger, systemClock } from '@hangar/core';
import { LogFile, rotatedFiles } from './log-file.ts';
import { tailOf } from './tail.ts';

const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });

function pathFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-log-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'main', '0.log');
}

async function written(file: LogFile, name: 'stdout' | 'stderr', chunks: readonly string[]): Promise<void> {
  const stream = new PassThrough();
  file.follow(name, stream);
  for (const chunk of chunks) stream.write(chunk);
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.end();
  await closed;
  await file.flush();
}

test('lines have the format of the kubelet, long lines are split, and the last line may be incomplete', async (context) => {
  const path = pathFor(context);
  const file = new LogFile({ path, clock: systemClock, log });
  const long = 'x'.repeat(20_000);
  await written(file, 'stdout', ['fir', 'st\nsecond\n', `${long}\n`, 'last']);
  await written(file, 'stderr', ['error\n']);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const parts = lines.map((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (\w+) ([FP]) (.*)$/.exec(line)!.slice(1));
  assert.deepEqual(
    parts.map(([name, tag, text]) => [name, tag, text!.length > 100 ? text!.length : text]),
    [
      ['stdout', 'F', 'first'],
      ['stdout', 'F', 'second'],
      ['stdout', 'P', 16_384],
      ['stdout', 'F', 3_616],
      ['stdout', 'F', 'last'],
      ['stderr', 'F', 'error'],
    ],
  );
  assert.equal(await tailOf(path, 11), 'last\nerror\n');
});

test('a file above its size is rotated, and only the newest files are kept', async (context) => {
  const path = pathFor(context);
  const file = new LogFile({ path, clock: systemClock, log, bytesMax: 200, filesMax: 3 });
  for (let line = 0; line < 20; line++) await written(file, 'stdout', [`line ${line} ${'-'.repeat(60)}\n`]);
  const rotated = await rotatedFiles(path);
  assert.equal(rotated.length, 2);
  assert.match(readFileSync(path, 'utf8'), /line 19 /);
  assert.match(readFileSync(rotated.at(-1)!, 'utf8'), /line 18 /);
});

test('a full disk loses output, is logged once, and writing continues when it can', async (context) => {
  const path = pathFor(context);
  const lines: string[] = [];
  const noted = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) });
  // As on a full disk, each write fails.
  mkdirSync(path, { recursive: true });
  const file = new LogFile({ path, clock: systemClock, log: noted });
  for (let line = 0; line < 50; line++) await written(file, 'stdout', [`lost ${line}\n`]);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /failed to write the log of a container/);
  rmdirSync(path);
  await written(file, 'stdout', ['kept\n']);
  assert.equal(await tailOf(path, 100), 'kept\n');
  assert.match(lines[1]!, /log of a container is written again.*lostBytes/);
});
