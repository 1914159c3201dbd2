import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sideAt, sideFaults } from './writable-side.ts';
import type { Histories, StoredVersion } from './writable-side.ts';

const created = (key: string, revision: number): StoredVersion => ({
  key,
  createRevision: revision,
  modRevision: revision,
  version: 1,
});
const acknowledged = (key: string, revision: number, sentMs = revision) => ({
  key,
  revision,
  sentMs,
  acknowledgedMs: sentMs + 0.5,
});

/** `a` before the first switch, `b` on the dedicated side, `c` after the way back. Each side has copies. */
const good: Histories = {
  switches: [
    { to: 'Dedicated', revision: 100 },
    { to: 'Virtual', revision: 180 },
  ],
  versions: {
    Virtual: [created('a', 99), created('b', 150), created('c', 181)],
    Dedicated: [created('a', 99), created('b', 150)],
  },
  acknowledged: [acknowledged('a', 99), acknowledged('b', 150), acknowledged('c', 181)],
};

test('the revision of a switch belongs to the old side', () => {
  const sides = [1, 100, 101, 180, 181].map((revision) => sideAt(good.switches, revision));
  assert.deepEqual(sides, ['Virtual', 'Virtual', 'Dedicated', 'Dedicated', 'Virtual']);
});

test('a base object in the copy is no fault', () =>
  assert.deepEqual(sideFaults({ ...good, copied: [created('base', 3)] }), []));

test('copies on the other side are no faults', () => assert.deepEqual(sideFaults(good), []));

const cases: readonly (readonly [string, Partial<Histories>, RegExp])[] = [
  [
    'a write of the old side after the switch',
    { versions: { ...good.versions, Virtual: [...good.versions.Virtual, created('x', 140)] } },
    /^x at 140.*written by side Virtual, when side Dedicated was writable$/,
  ],
  [
    'a write of both sides with one revision',
    {
      versions: {
        ...good.versions,
        Virtual: [created('a', 99), { ...created('b', 150), createRevision: 90, version: 2 }, created('c', 181)],
      },
    },
    /^b at 150.*written by side Virtual/,
  ],
  [
    'a write of the dedicated side after the way back',
    { versions: { ...good.versions, Dedicated: [...good.versions.Dedicated, created('x', 190)] } },
    /^x at 190.*written by side Dedicated, when side Virtual was writable$/,
  ],
  [
    'an acknowledged write that only the other side has',
    { versions: { ...good.versions, Dedicated: [created('a', 99)], Virtual: [created('a', 99), created('c', 181)] } },
    /^b at 150: acknowledged, but side Dedicated/,
  ],
  [
    'a write that gets a lower revision than an acknowledged one',
    { acknowledged: [acknowledged('b', 150, 1), acknowledged('a', 99, 2)] },
    /^a: got revision 99 after 150 was acknowledged$/,
  ],
  [
    'a switch back to an earlier revision',
    {
      switches: [
        { to: 'Dedicated', revision: 100 },
        { to: 'Virtual', revision: 90 },
      ],
      versions: { Virtual: [], Dedicated: [] },
      acknowledged: [],
    },
    /^the switch at revision 90 follows one at revision 100$/,
  ],
];
for (const [name, change, expected] of cases) {
  test(`${name} is a fault`, () => {
    const faults = sideFaults({ ...good, ...change });
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0]!, expected);
  });
}
