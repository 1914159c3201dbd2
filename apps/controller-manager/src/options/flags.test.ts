import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagGroups, flags, help } from './flags.ts';

test('every flag is explained once, with what follows it, in lines that fit a terminal', () => {
  const described = flagGroups.flatMap((group) => group.flags);
  assert.deepEqual(described.map(({ name }) => name).toSorted(), Object.keys(flags).toSorted());
  for (const { name, argument } of described) {
    assert.equal(argument === undefined, flags[name as keyof typeof flags].type === 'boolean', name);
  }
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
});

test('defaults are told', () => {
  for (const [name, flag] of Object.entries(flags)) {
    if (!('default' in flag) || name === 'leader-elect-resource-lock') continue;
    const { meaning } = flagGroups.flatMap((group) => group.flags).find((one) => one.name === name)!;
    assert.ok(meaning.includes(`(default: ${String(flag.default)}`), name);
  }
});
