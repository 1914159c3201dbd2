import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { unifiedDiff } from './unified-diff.ts';

const names = { beforeName: 'a', afterName: 'b' };
const diff = (before: string, after: string): string => unifiedDiff({ before, after, ...names });

test('equal texts have no difference', () => {
  assert.equal(diff('a\n', 'a\n'), '');
});

test('a changed line has three lines of context, and distant changes are separate', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const changed = lines.with(5, 'changed').toSpliced(18, 1);
  assert.equal(
    diff(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`),
    `--- a
+++ b
@@ -3,7 +3,7 @@
 line 2
 line 3
 line 4
-line 5
+changed
 line 6
 line 7
 line 8
@@ -16,5 +16,4 @@
 line 15
 line 16
 line 17
-line 18
 line 19
`,
  );
});

test('all lines of a new text are added', () => {
  assert.equal(diff('', 'a\nb\n'), '--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n');
});

test('a patch makes the second text of the first', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '  d', ''), { maxLength: 30 })
    .map((lines) => lines.map((line) => `${line}\n`).join(''));
  const check = fc.property(text, text, (before, after) => assert.equal(patched(before, diff(before, after)), after));
  fc.assert(check, { numRuns: 300 });
});

/** Applies a patch as the program does: exact positions and exact context. */
function patched(before: string, patch: string): string {
  const lines = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const result: string[] = [];
  let at = 0;
  for (const line of patch.split('\n').slice(2, -1)) {
    const place = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(line);
    if (place) {
      const from = Number(place[1]) - (place[2] === '0' ? 0 : 1);
      result.push(...lines.slice(at, from));
      at = from;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      assert.equal(lines[at], line.slice(1));
      if (line.startsWith(' ')) result.push(lines[at]!);
      at += 1;
    }
  }
  return [...result, ...lines.slice(at)].map((line) => `${line}\n`).join('');
}
