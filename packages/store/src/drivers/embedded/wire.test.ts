import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Entry, LeaseId, Revision, Write } from '../../contract.ts';
import type { Change, Command, Outcome } from '../../engine/command.ts';
import { packGroup, packOutcomes, unpackGroup, unpackOutcomes } from './wire.ts';

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const revision = fc.maxSafeNat() as fc.Arbitrary<Revision>;
const lease = fc.stringMatching(/^[0-9a-f]{14}$/) as fc.Arbitrary<LeaseId>;
const value = fc.uint8Array({ maxLength: 300 });

const restored = fc.record({ createRevision: revision, modRevision: revision, version: fc.nat() });

function unpacked(...packed: Parameters<typeof unpackOutcomes>): Outcome[] {
  const slices = unpackOutcomes(...packed);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record(
    { type: fc.constant('put' as const), key, value, expected: revision, lease, restored, revisionMin: revision },
    { requiredKeys: ['type', 'key', 'value'] },
  ),
  fc.record({ type: fc.constant('delete' as const), key, expected: revision }, { requiredKeys: ['type', 'key'] }),
  fc.record({
    type: fc.constant('deleteRange' as const),
    range: fc.record({ start: fc.oneof(fc.constant(''), key), end: key }, { requiredKeys: ['start'] }),
  }),
  fc.record({ type: fc.constant('check' as const), key, expected: revision }),
);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('transaction' as const),
      writes: fc.array(write, { minLength: 1, maxLength: 6 }),
    }),
  },
  fc.record({ type: fc.constant('grantLease' as const), lease: fc.record({ id: lease, ttlMs: fc.nat() }) }),
  fc.record({ type: fc.constant('revokeLease' as const), id: lease }),
  fc.record({ type: fc.constant('compact' as const), revision }),
  fc.record({ type: fc.constant('removeObsolete' as const), rowsMax: fc.nat() }),
);

test('a group comes out as it went in, through a thread', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 8 }), (group) => {
      const packed = packGroup(group);
      const received = structuredClone(packed, { transfer: [packed.values.buffer] });
      assert.deepEqual(plain(unpackGroup(received)), plain(group));
    }),
  );
});

test('values that are part of a larger buffer travel without it', () => {
  const pool = Buffer.alloc(1_000_000, 'x');
  const part = pool.subarray(500_000, 500_010);
  const packed = packGroup([{ type: 'transaction', writes: [{ type: 'put', key: '/a', value: part }] }]);
  assert.equal(packed.values.buffer.byteLength, 10);
});

test('the value that was handed over stays with the one who did', () => {
  const mine = Buffer.from('mine');
  const packed = packGroup([{ type: 'transaction', writes: [{ type: 'put', key: '/a', value: mine }] }]);
  structuredClone(packed, { transfer: [packed.values.buffer] });
  assert.equal(mine.toString(), 'mine');
});

const entry: fc.Arbitrary<Entry> = fc.record({
  key,
  value,
  createRevision: revision,
  modRevision: revision,
  version: fc.nat(),
  lease: fc.option(lease, { nil: undefined }),
});

/** Revision of a commit: at least 1. */
const committedRevision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) as fc.Arbitrary<Revision>;

/** An outcome that this command could have. */
function outcomeOf(command: Command): fc.Arbitrary<Outcome> {
  const error = fc.record({
    error: fc.record({ code: fc.constant('LeaseNotFound' as const), message: fc.string() }),
  });
  const nothing = revision.map((revision): Outcome => ({
    result: { committed: true, revision, deleted: 0 },
    changes: [],
  }));
  if (command.type !== 'transaction')
    return fc.oneof(
      error,
      nothing,
      nothing.map((outcome) => ({ ...outcome, more: true })),
    );
  const conflict = fc.record({
    result: fc.record({
      committed: fc.constant(false as const),
      revision,
      conflicts: fc.array(fc.record({ key, entry: fc.option(entry, { nil: undefined }) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    changes: fc.constant([] as Change[]),
  });
  const puts = command.writes.flatMap((write, place) =>
    write.type === 'put' ? [{ key: write.key, write: place }] : [],
  );
  const numbers = fc.record({ createRevision: revision, version: fc.nat(), previousId: fc.nat() });
  const change = (made: { key: string; write: number }) => numbers.map((more): Change => ({ ...made, ...more }));
  const deletion = key.chain((key) => change({ key, write: -1 }));
  const changes = fc.tuple(fc.tuple(...puts.map(change)), fc.array(deletion, { maxLength: 3 }));
  const committed = fc.tuple(changes, committedRevision).map(([[made, deleted], revision]): Outcome => ({
    result: { committed: true, revision, deleted: deleted.length },
    changes: [...made, ...deleted],
  }));
  return fc.oneof({ weight: 4, arbitrary: committed }, conflict, error, nothing);
}

test('outcomes come back as they were, through a thread', () => {
  const grouped = fc
    .array(command, { maxLength: 8 })
    .chain((group) => fc.tuple(fc.constant(group), fc.tuple(...group.map(outcomeOf))));
  fc.assert(
    fc.property(grouped, ([group, outcomes]) => {
      const received = structuredClone(packOutcomes(outcomes));
      assert.deepEqual(plain(unpacked(received, group)), plain(outcomes));
    }),
  );
});

test('an outcome with many changes comes back as it was, through a thread', () => {
  const changes = Array.from({ length: 1_000 }, (_, index): Change => ({
    key: `/registry/${index}`,
    write: index % 2 === 0 ? -1 : index,
    createRevision: index as Revision,
    version: index + 1,
    previousId: index * 2 ** 32,
  }));
  const outcome: Outcome = { result: { committed: true, revision: 7 as Revision, deleted: 500 }, changes };
  const received = structuredClone(packOutcomes([outcome]));
  assert.deepEqual(unpacked(received, [{ type: 'transaction', writes: [] }]), [outcome]);
});

/** Bytes are bytes, whichever class and buffer holds them. */
function plain(thing: unknown): unknown {
  return JSON.parse(
    JSON.stringify(thing, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ),
  );
}
