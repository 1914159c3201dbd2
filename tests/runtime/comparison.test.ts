/** Checks the comparison in docs/runtime.md: each claim about Hangar names an existing test, each claim about others has a reason. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../docs/runtime.md', import.meta.url));
const text = readFileSync(page, 'utf8');
const projects = 5;

interface Row {
  readonly feature: string;
  readonly hangar: string;
  readonly others: readonly string[];
}

/** Of every table that begins with “feature”. */
function rowsOf(markdown: string): Row[] {
  const rows: Row[] = [];
  let isInside = false;
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) isInside = false;
    else if (line.startsWith('| feature |')) isInside = true;
    else if (isInside && !line.startsWith('|---')) {
      const [feature = '', hangar = '', ...others] = line.slice(2, -2).split(' | ');
      rows.push({ feature, hangar, others });
    }
  }
  return rows;
}

const rows = rowsOf(text);
const notes = new Set(Array.from(text.matchAll(/^- \*\*\[(\w+)\]\*\* \S/gm), ([, id]) => id!));
const proof = /^\[yes\]\((\S+) "([^"]+)"\)$/;
const verdict = /^(yes|no|partly|c-r)((?: \[\w+\])*)$/;
const referred = (cell: string): string[] => Array.from(cell.matchAll(/ \[(\w+)\]/g), ([, id]) => id!);

/** A test or a case of a suite of exactly this name. */
function hasTest(source: string, name: string): boolean {
  const spellings = [name, name.replaceAll("'", String.raw`\'`)];
  return spellings.some((one) =>
    ["'", '"', '`'].some((quote) =>
      ['test(', 'it(', 'name: '].some((before) => source.includes(`${before}${quote}${one}${quote}`)),
    ),
  );
}

describe('the comparison', () => {
  test('has more than forty-five features, each once, and a verdict for every project', () => {
    assert.ok(rows.length >= 45, `${rows.length}`);
    assert.equal(new Set(rows.map(({ feature }) => feature)).size, rows.length);
    for (const { feature, others } of rows) {
      assert.equal(others.length, projects - 1, feature);
      for (const cell of others) assert.match(cell, verdict, feature);
    }
  });

  test('proves every yes of ours by a test of the name that it says', () => {
    const proven = rows.filter(({ hangar }) => hangar.startsWith('[yes]'));
    assert.ok(proven.length >= 45, `${proven.length}`);
    for (const { feature, hangar } of proven) {
      const [, path, name] = proof.exec(hangar) ?? assert.fail(`${feature}: ${hangar}`);
      const file = resolve(dirname(page), path!);
      assert.ok(existsSync(file), `${feature}: there is no ${path}`);
      assert.ok(hasTest(readFileSync(file, 'utf8'), name!), `${feature}: ${path} has no test “${name}”`);
    }
  });

  test('has a reason for every no and partly, also of ours, and no reason for nothing', () => {
    const used = new Set<string>();
    for (const { feature, hangar, others } of rows) {
      for (const cell of proof.test(hangar) ? others : [hangar, ...others]) {
        const [, word] = verdict.exec(cell) ?? assert.fail(`${feature}: ${cell}`);
        const ids = referred(cell);
        if (word === 'no' || word === 'partly') assert.ok(ids.length > 0, `${feature}: ${cell} says not why`);
        for (const id of ids) {
          assert.ok(notes.has(id), `${feature}: there is no note ${id}`);
          used.add(id);
        }
      }
    }
    assert.deepEqual([...notes].filter((id) => !used.has(id)).toSorted(), []);
  });

  test('links to files that exist', () => {
    for (const [, path] of text.matchAll(/\]\((\.{0,2}[^)\s:"]+)(?: "[^"]*")?\)/g)) {
      assert.ok(existsSync(resolve(dirname(page), path!)), `there is no ${path}`);
    }
  });
});
