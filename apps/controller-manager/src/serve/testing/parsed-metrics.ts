/**
 * Reads the text format as `promtool check metrics` and Prometheus do, and throws where they complain: lines that are none, series
 * that come twice, families that are not in one piece, descriptions that come twice or too late. Written apart from what it checks.
 */

import assert from 'node:assert/strict';

export interface ParsedFamily {
  readonly name: string;
  help: string | undefined;
  type: string;
  /** By name and labels, sorted: `name{a="1",b="2"}`. */
  readonly samples: Map<string, { readonly value: string; readonly timestamp: string | undefined }>;
}

export type ParsedMetrics = ReadonlyMap<string, ParsedFamily>;

export function parseMetrics(text: string): ParsedMetrics {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line ends');
  const families = new Map<string, ParsedFamily>();
  const finished = new Set<string>();
  let current: ParsedFamily | undefined;
  const enter = (name: string): ParsedFamily => {
    if (current?.name === name) return current;
    if (current) finished.add(current.name);
    assert.ok(!finished.has(name), `${name} is not in one piece`);
    current = { name, help: undefined, type: 'untyped', samples: new Map() };
    families.set(name, current);
    return current;
  };
  for (const line of text.split('\n').slice(0, -1)) {
    const description = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (description) {
      const [, keyword, name, rest] = description;
      const family = enter(name!);
      assert.equal(family.samples.size, 0, `${line} comes after samples`);
      if (keyword === 'HELP') {
        assert.equal(family.help, undefined, `${line} comes twice`);
        family.help = rest;
      } else {
        assert.equal(family.type, 'untyped', `${line} comes twice`);
        assert.match(rest!, /^(counter|gauge|histogram|summary|untyped)$/);
        family.type = rest!;
      }
      continue;
    }
    const { name, labels, value, timestamp } = parseSample(line);
    const family = current && belongsTo(current, name) ? current : enter(name);
    const series = `${name}{${[...labels]
      .sort()
      .map(([key, text]) => `${key}=${JSON.stringify(text)}`)
      .join(',')}}`;
    assert.ok(!family.samples.has(series), `${series} comes twice`);
    family.samples.set(series, { value, timestamp });
  }
  return families;
}

function belongsTo({ name, type }: ParsedFamily, sample: string): boolean {
  if (sample === name) return true;
  if (!sample.startsWith(`${name}_`)) return false;
  const suffix = sample.slice(name.length);
  if (type === 'histogram') return ['_bucket', '_sum', '_count'].includes(suffix);
  return type === 'summary' && ['_sum', '_count'].includes(suffix);
}

interface Sample {
  readonly name: string;
  readonly labels: Map<string, string>;
  readonly value: string;
  readonly timestamp: string | undefined;
}

/** Character by character. */
function parseSample(line: string): Sample {
  let at = 0;
  const take = (pattern: RegExp, what: string): string => {
    const found = new RegExp(`^(?:${pattern.source})`).exec(line.slice(at))?.[0];
    assert.ok(found !== undefined, `${what} expected at ${at} of ${line}`);
    at += found.length;
    return found;
  };
  const name = take(/[a-zA-Z_:][a-zA-Z0-9_:]*/, 'a name');
  const labels = new Map<string, string>();
  if (line[at] === '{') {
    at++;
    while (line[at] !== '}') {
      const label = take(/[a-zA-Z_][a-zA-Z0-9_]*/, 'a label');
      take(/="/, '="');
      let value = '';
      for (; line[at] !== '"'; at++) {
        assert.ok(at < line.length, `a value without an end in ${line}`);
        if (line[at] !== '\\') value += line[at];
        else value += line[++at] === 'n' ? '\n' : line[at];
      }
      at++;
      assert.ok(!labels.has(label), `${label} comes twice in ${line}`);
      labels.set(label, value);
      if (line[at] !== '}') take(/,/, 'a comma');
    }
    at++;
  }
  take(/ +/, 'a blank');
  const value = take(/\S+/, 'a value');
  assert.ok(/^[-+]?(inf|nan)$/i.test(value) || Number.isFinite(Number(value)), `${value} is no number in ${line}`);
  const rest = line.slice(at).trim();
  assert.match(rest, /^(-?\d+)?$/, `what is behind the value in ${line}`);
  return { name, labels, value, timestamp: rest === '' ? undefined : rest };
}
