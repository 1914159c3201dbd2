import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Logger, systemClock } from '@hangar/core';
import { FollowedFiles } from './followed-file.ts';

test('a file that changes is used; one that cannot be used is told once, and what was before stays', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-files-'));
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) });
  const files = new FollowedFiles({ clock: systemClock, log, periodMs: 5 });
  t.after(() => {
    files.close();
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'policy');
  writeFileSync(path, 'one');
  const used: string[] = [];
  let next = Promise.withResolvers<void>();
  files.follow([path], ['one'], ([content]) => {
    next.resolve();
    if (content === 'bad') throw new Error('cannot be used');
    used.push(content!);
  });
  for (const content of ['two', 'bad', 'three']) {
    next = Promise.withResolvers();
    writeFileSync(`${path}.new`, content);
    writeFileSync(path, content);
    await next.promise;
  }
  assert.deepEqual(used, ['two', 'three']);
  assert.equal(lines.filter((line) => line.includes('cannot be used')).length, 1);
});
