import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LeaseId, Revision, Write } from '../../../contract.ts';
import { decodeMessage, encodeMessage, unframed } from '../testing/etcd-proto.ts';
import { decodeToken, encodeAuthenticate } from './auth.ts';
import { leaseIdOf, leaseNumber } from './entry.ts';
import { decodeHeader } from './header.ts';
import { decodeRange, encodeCompact, encodeGet, encodeRange, encodeRevisionProbe, successorOf } from './kv.ts';
import { decodeLease, encodeLeaseGrant, encodeLeaseId } from './lease.ts';
import {
  decodeAddedMember,
  decodeAlarms,
  decodeMembers,
  decodeStatus,
  encodeAddLearner,
  encodeDisarm,
  encodeEmpty,
  encodeMemberId,
  encodeMembersQuery,
} from './maintenance.ts';
import { decodeSnapshotPart } from './snapshot.ts';
import type { MemberId } from './maintenance.ts';
import { decodeTxn, encodeTxn } from './txn.ts';
import { decodeWatch, encodeWatchCreate, encodeWatchProgress } from './watch.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const at = (revision: number): Revision => revision as Revision;
/** As large as etcd's cluster and member ids are. */
const header = (revision: number) => ({
  cluster_id: 14841639068965178418n.toString(),
  member_id: '10276657743932975437',
  revision,
  raft_term: 7,
});

test('a frame says that it is not compressed, and how long it is', () => {
  const frame = encodeGet('/a', at(0));
  assert.equal(frame[0], 0);
  assert.equal(frame.readUInt32BE(1), frame.length - 5);
});

test('a get names its key, and a revision only of the past', () => {
  assert.deepEqual(decodeMessage('RangeRequest', unframed(encodeGet('/ключ', at(0)))), { key: '/ключ' });
  assert.deepEqual(decodeMessage('RangeRequest', unframed(encodeGet('/a', at(2 ** 40)))), {
    key: '/a',
    revision: String(2 ** 40),
  });
});

test('the bounds of a range that are open become what etcd takes for open', () => {
  const request = { start: '', end: undefined, limit: 10, revision: at(3), keysOnly: true };
  assert.deepEqual(decodeMessage('RangeRequest', unframed(encodeRange(request))), {
    key: '\u0000',
    range_end: '\u0000',
    limit: '10',
    revision: '3',
    keys_only: true,
  });
});

test('a page goes on behind bytes that are no text', () => {
  const start = successorOf(Uint8Array.of(0xff, 0x80));
  const request = encodeRange({ start, end: 'z', limit: 0, revision: at(0), keysOnly: false });
  assert.ok(request.includes(Buffer.of(0x0a, 3, 0xff, 0x80, 0)));
});

test('the revision is asked for with a count of a key that nobody has', () => {
  const request = decodeMessage('RangeRequest', unframed(encodeRevisionProbe('/registry/')));
  assert.deepEqual(request, { key: '/registry/\u0000', count_only: true });
});

test('a transaction compares, writes, and reads what it compared when that fails', () => {
  const writes: Write[] = [
    { type: 'put', key: '/a', value: bytes('1'), expected: at(0), lease: '7f' as LeaseId },
    { type: 'delete', key: '/b', expected: at(300) },
    { type: 'deleteRange', range: { start: '/c/', end: '/c0' } },
    { type: 'check', key: '/d', expected: at(5) },
    { type: 'put', key: '/e', value: bytes('2') },
  ];
  assert.deepEqual(decodeMessage('TxnRequest', unframed(encodeTxn({ writes, conflictsKeysOnly: false }))), {
    compare: [
      { target: 2, key: '/a', mod_revision: '0' },
      { target: 2, key: '/b', mod_revision: '300' },
      { target: 2, key: '/d', mod_revision: '5' },
    ],
    success: [
      { put: { key: '/a', value: '1', lease: '127' } },
      { delete_range: { key: '/b' } },
      { delete_range: { key: '/c/', range_end: '/c0' } },
      { put: { key: '/e', value: '2' } },
    ],
    failure: [{ range: { key: '/a' } }, { range: { key: '/b' } }, { range: { key: '/d' } }],
  });
});

test('any put is encoded as protobufjs would read it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
      fc.uint8Array({ maxLength: 20_000 }),
      fc.maxSafeNat(),
      (key, value, expected) => {
        const writes: Write[] = [{ type: 'put', key, value, expected: at(expected) }];
        const message = unframed(encodeTxn({ writes, conflictsKeysOnly: true }));
        const decoded = decodeMessage('TxnRequest', message);
        assert.deepEqual(decoded['compare'], [{ target: 2, key, mod_revision: String(expected) }]);
        assert.deepEqual(decoded['failure'], [{ range: { key, keys_only: true } }]);
        assert.ok(message.includes(value));
      },
    ),
    { numRuns: 50 },
  );
});

test('a committed transaction tells its revision and how many keys it deleted', () => {
  const responses = [
    { delete_range: { header: header(9), deleted: 3 } },
    { put: { header: header(9) } },
    { delete_range: { deleted: 200 } },
  ];
  const message = encodeMessage('TxnResponse', { header: header(9), succeeded: true, responses });
  assert.deepEqual(decodeTxn(message), { revision: 9, succeeded: true, deleted: 203, compared: [] });
});

test('a conflict tells what stands under each compared key', () => {
  const kvs = [{ key: bytes('/a'), create_revision: 2, mod_revision: 9, version: 3, value: bytes('x'), lease: 16 }];
  const responses = [{ range: { header: header(9), kvs, count: 1 } }, { range: { header: header(9) } }];
  const decoded = decodeTxn(encodeMessage('TxnResponse', { header: header(9), responses }));
  assert.equal(decoded.succeeded, false);
  assert.deepEqual(decoded.compared, [
    { key: '/a', value: Uint8Array.of(0x78), createRevision: 2, modRevision: 9, version: 3, lease: '10' },
    undefined,
  ]);
});

test('a range answers entries, whether there is more, and where it stopped', () => {
  const kvs = ['/a', '/b'].map((key) => ({ key: bytes(key), create_revision: 1, mod_revision: 2 ** 45, version: 1 }));
  const decoded = decodeRange(encodeMessage('RangeResponse', { header: header(2 ** 45), kvs, more: true, count: 7 }));
  assert.equal(decoded.revision, 2 ** 45);
  assert.deepEqual(
    decoded.entries.map((entry) => [entry.key, entry.modRevision, entry.value.length, entry.lease]),
    [
      ['/a', 2 ** 45, 0, undefined],
      ['/b', 2 ** 45, 0, undefined],
    ],
  );
  assert.equal(decoded.more, true);
  assert.equal(Buffer.from(decoded.lastKey).toString(), '/b');
});

test('a watch asks for previous values, from a revision, with progress', () => {
  const request = { range: { start: '/registry/', end: '/registry0' }, fromRevision: at(12), previous: true };
  assert.deepEqual(decodeMessage('WatchRequest', unframed(encodeWatchCreate(request))), {
    create: { key: '/registry/', range_end: '/registry0', start_revision: '12', progress_notify: true, prev_kv: true },
  });
  assert.deepEqual(decodeMessage('WatchRequest', unframed(encodeWatchProgress())), { progress: {} });
});

test('watch events tell what was put and deleted, and what was there before', () => {
  const kv = { key: bytes('/a'), create_revision: 2, mod_revision: 5, version: 2, value: bytes('new') };
  const events = [
    { kv, prev_kv: { ...kv, mod_revision: 2, version: 1, value: bytes('old') } },
    { type: 1, kv: { key: bytes('/b'), mod_revision: 5 } },
  ];
  const decoded = decodeWatch(encodeMessage('WatchResponse', { header: header(5), watch_id: -1, events }));
  assert.deepEqual(
    decoded.events.map(({ deleted, entry, previous }) => [
      deleted,
      entry.key,
      entry.modRevision,
      previous && Buffer.from(previous.value).toString(),
    ]),
    [
      [false, '/a', 5, 'old'],
      [true, '/b', 5, undefined],
    ],
  );
  assert.deepEqual([decoded.created, decoded.canceled, decoded.fragment], [false, false, false]);
});

test('the end of a watch tells its reason', () => {
  const content = { header: header(5), canceled: true, compact_revision: 77, cancel_reason: 'gone', fragment: true };
  const decoded = decodeWatch(encodeMessage('WatchResponse', { ...content, created: true }));
  assert.deepEqual(
    [decoded.canceled, decoded.created, decoded.compactRevision, decoded.cancelReason, decoded.fragment],
    [true, true, 77, 'gone', true],
  );
});

test('leases are granted in seconds and named in hexadecimal', () => {
  assert.deepEqual(decodeMessage('LeaseGrantRequest', unframed(encodeLeaseGrant(9_000_000_000))), {
    TTL: '9000000000',
  });
  const id = 0x33e4a1e0ced86b0bn;
  assert.deepEqual(decodeMessage('LeaseRequest', unframed(encodeLeaseId(id))), { ID: id.toString() });
  const message = encodeMessage('LeaseGrantResponse', { header: header(4), ID: id.toString(), TTL: 30 });
  assert.deepEqual(decodeLease(message), { revision: 4, id, ttlSeconds: 30 });
  assert.equal(leaseIdOf(id), '33e4a1e0ced86b0b');
  assert.equal(leaseNumber('33e4a1e0ced86b0b' as LeaseId), id);
  assert.equal(leaseIdOf(-1n), 'f'.repeat(16));
  assert.equal(leaseNumber('f'.repeat(16) as LeaseId), -1n);
});

test('a lease that is gone has a time of zero or less', () => {
  const ended = encodeMessage('LeaseGrantResponse', { header: header(4), ID: 5, TTL: -1 });
  assert.equal(decodeLease(ended).ttlSeconds, -1);
  assert.equal(decodeLease(encodeMessage('LeaseGrantResponse', { header: header(4), ID: 5 })).ttlSeconds, 0);
});

test('texts that no lease can have are not numbers', () => {
  for (const id of ['', '0', '0000', 'xyz', '-1', '1'.repeat(17), '0x1', 'FF']) {
    assert.equal(leaseNumber(id as LeaseId), undefined, id);
  }
});

test('the remaining messages', () => {
  assert.deepEqual(decodeMessage('CompactionRequest', unframed(encodeCompact(at(99)))), { revision: '99' });
  const physical = decodeMessage('CompactionRequest', unframed(encodeCompact(at(99), true)));
  assert.deepEqual(physical, { revision: '99', physical: true });
  assert.deepEqual(decodeMessage('AuthenticateRequest', unframed(encodeAuthenticate('root', 'pässword'))), {
    name: 'root',
    password: 'pässword',
  });
  assert.equal(decodeToken(encodeMessage('AuthenticateResponse', { header: header(3), token: 'abc.7' })), 'abc.7');
  assert.equal(decodeHeader(encodeMessage('PutResponse', { header: header(123) })), 123);
});

/** Above the largest signed number. */
const memberNumber = 0xf1e2d3c4b5a69788n;
const member = memberNumber.toString(16) as MemberId;

test('the status of a member', () => {
  assert.deepEqual(decodeMessage('Empty', unframed(encodeEmpty())), {});
  const id = { header: { ...header(3), member_id: memberNumber.toString() } };
  const sizes = { dbSize: 3_000_000_000, dbSizeInUse: 7, dbSizeQuota: 4_000_000_000 };
  const known = {
    version: '3.6.8',
    leader: memberNumber.toString(),
    raftTerm: 2,
    raftIndex: 9,
    raftAppliedIndex: 8,
    errors: ['NOSPACE'],
    isLearner: true,
    storageVersion: '3.6.0',
  };
  assert.deepEqual(decodeStatus(encodeMessage('StatusResponse', { ...id, ...sizes, ...known })), {
    member,
    version: '3.6.8',
    dbSizeBytes: 3_000_000_000,
    dbSizeInUseBytes: 7,
    quotaBytes: 4_000_000_000,
    leader: member,
    isLearner: true,
    revision: 3,
    raftTerm: 2,
    raftIndex: 9,
    appliedIndex: 8,
    storageVersion: '3.6.0',
    errors: ['NOSPACE'],
  });
  assert.deepEqual(decodeStatus(encodeMessage('StatusResponse', { ...id, version: '3.5.24', dbSize: 5 })), {
    member,
    version: '3.5.24',
    dbSizeBytes: 5,
    dbSizeInUseBytes: 0,
    isLearner: false,
    revision: 3,
    raftTerm: 0,
    raftIndex: 0,
    appliedIndex: 0,
    errors: [],
  });
});

test('alarms and their types', () => {
  const alarms = [1, 2, 9].map((alarm) => ({ memberID: memberNumber.toString(), alarm }));
  assert.deepEqual(decodeAlarms(encodeMessage('AlarmResponse', { header: header(3), alarms })), [
    { member, type: 'NOSPACE' },
    { member, type: 'CORRUPT' },
  ]);
  assert.deepEqual(decodeAlarms(encodeMessage('AlarmResponse', { header: header(3) })), []);
  const request = decodeMessage('AlarmRequest', unframed(encodeDisarm({ member, type: 'NOSPACE' })));
  assert.deepEqual(request, { action: 2, memberID: memberNumber.toString(), alarm: 1 });
});

test('members', () => {
  const one = { ID: memberNumber.toString(), name: 'a', peerURLs: ['http://p'], clientURLs: ['http://c', 'http://d'] };
  const members = [one, { ID: 5, isLearner: true }];
  assert.deepEqual(decodeMembers(encodeMessage('MemberListResponse', { header: header(3), members })), [
    { id: member, name: 'a', peerUrls: ['http://p'], clientUrls: ['http://c', 'http://d'], isLearner: false },
    { id: '5', name: '', peerUrls: [], clientUrls: [], isLearner: true },
  ]);
  const added = { header: header(3), member: { ID: 5, peerURLs: ['http://p'], isLearner: true }, members: [one] };
  assert.equal(decodeAddedMember(encodeMessage('MemberAddResponse', added)).id, '5');
  assert.deepEqual(decodeMessage('MemberListRequest', unframed(encodeMembersQuery(true))), { linearizable: true });
  assert.deepEqual(decodeMessage('MemberAddRequest', unframed(encodeAddLearner('http://p:1'))), {
    peerURLs: ['http://p:1'],
    isLearner: true,
  });
  const id = unframed(encodeMemberId(member));
  assert.deepEqual(decodeMessage('MemberIdRequest', id), { ID: memberNumber.toString() });
});

test('parts of a snapshot are decoded', () => {
  const message = encodeMessage('SnapshotResponse', {
    header: header(3),
    remaining_bytes: 5_000_000_000,
    blob: Buffer.from('pages'),
    version: '3.6.0',
  });
  const { bytes, remainingBytes } = decodeSnapshotPart(message);
  assert.deepEqual([Buffer.from(bytes).toString(), remainingBytes], ['pages', 5_000_000_000]);
});
