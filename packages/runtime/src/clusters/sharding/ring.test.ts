import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { decodeRecord, encodeRecord } from './peer-record.ts';
import type { PeerRecord } from './peer-record.ts';
import { decodeRing, encodeRing, nextRing } from './ring.ts';
import type { Member, Ring } from './ring.ts';

const member = (name: string): Member => ({ name, id: `${name}-life`, weight: 1, pull: 1.5 });
const ring: Ring = { id: 'r', epoch: 7, members: [member('x-0'), member('x-1')], history: [] };

describe('a ring', () => {
  test('is read as it was written', () => {
    const next = nextRing(ring, { epoch: 8, members: [member('x-0')], isNeeded: () => true });
    assert.deepEqual(decodeRing(encodeRing(next)), next);
    assert.deepEqual(next.history, [{ epoch: 7, members: ring.members }]);
  });

  test('keeps of its history what somebody may act on', () => {
    let next = ring;
    for (let epoch = 8; epoch < 12; epoch++) {
      next = nextRing(next, { epoch, members: ring.members, isNeeded: (entry) => entry.epoch >= 9 });
    }
    assert.deepEqual(
      next.history.map(({ epoch }) => epoch),
      [9, 10],
    );
  });

  test('does not grow without an end: the oldest entries become one, in which anybody may have had anything', () => {
    let next = ring;
    for (let epoch = 8; epoch < 100; epoch++) {
      next = nextRing(next, { epoch, members: [member(`x-${epoch % 30}`)], isNeeded: () => true });
    }
    assert.equal(next.history.length, 16);
    const [oldest] = next.history;
    assert.equal(oldest?.isMerged, true);
    assert.equal(oldest?.epoch, 83);
    assert.ok(oldest.members.some(({ name }) => name === 'x-1'));
  });

  test('that is none is undefined', () => {
    const text = encodeRing(ring);
    for (const damaged of [undefined, '', '[]', 'null', '{}', text.replace('7', '"7"'), text.replace('"x-0"', '{}')]) {
      assert.equal(decodeRing(damaged), undefined, String(damaged));
    }
  });
});

describe('a record of a peer', () => {
  const record: PeerRecord = {
    name: 'x-0',
    id: 'life',
    state: 'active',
    weight: 1,
    leaseMs: 10_000,
    epochMax: 9,
    acknowledged: { ring: 'r', epoch: 8 },
    draining: ['abc'],
    heldCount: 3,
  };

  test('is read as it was written, and only as that peer’s', () => {
    assert.deepEqual(decodeRecord(encodeRecord(record), 'x-0'), record);
    assert.equal(decodeRecord(encodeRecord(record), 'x-1'), undefined);
  });

  test('says "all" when it drains more than it can say, and stays small', () => {
    const draining = Array.from({ length: 50_000 }, (_, i) => `hash-${i}`);
    const text = encodeRecord({ ...record, draining });
    assert.ok(text.length < 1_000);
    assert.equal(decodeRecord(text, 'x-0')?.draining, 'all');
  });

  test('that is none is undefined', () => {
    for (const damaged of [undefined, '', '3', '{}', encodeRecord(record).replace('active', 'lost')]) {
      assert.equal(decodeRecord(damaged, 'x-0'), undefined, String(damaged));
    }
  });
});
