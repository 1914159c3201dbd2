import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseId, Revision } from '../../../contract.ts';
import { decodeMessage, encodeMessage, unframed } from '../testing/etcd-proto.ts';
import { decodeLeases, encodeLeaseGrant } from './lease.ts';
import { encodeBatch, encodeFill, encodeNextOf, positionKey } from './replica-txn.ts';

const at = (revision: number): Revision => revision as Revision;
const readsPosition = { range: { key: positionKey, keys_only: true } };
const writesPosition = { put: { key: positionKey } };

const fill = (first: number, last: number) => ({
  compare: [
    { result: 2, target: 2, key: positionKey, mod_revision: String(last) },
    { result: 1, target: 2, key: positionKey, mod_revision: String(first - 2) },
  ],
  success: [writesPosition, readsPosition],
  failure: [readsPosition],
});

test('a change without content writes only the position key', () => {
  const { transaction } = encodeFill(101, 2 ** 40);
  assert.deepEqual(decodeMessage('TxnRequest', transaction), fill(101, 2 ** 40));
});

test('a request chooses its change by the position', () => {
  const frame = encodeNextOf([encodeFill(101, 101), encodeFill(102, 104), encodeFill(105, 105)]);
  const less = (revision: number) => [{ result: 2, target: 2, key: positionKey, mod_revision: String(revision) }];
  const later = { compare: less(104), success: [{ txn: fill(102, 104) }], failure: [{ txn: fill(105, 105) }] };
  assert.deepEqual(decodeMessage('TxnRequest', unframed(frame)), {
    success: [{ txn: { compare: less(101), success: [{ txn: fill(101, 101) }], failure: [{ txn: later }] } }],
  });
});

test('a batch is conditional on the position and on the versions of its keys', () => {
  const entry = { value: Buffer.from('v'), createRevision: at(3), modRevision: at(9) };
  const { transaction } = encodeBatch({
    revision: at(9),
    positionVersion: 5,
    prefix: '/registry/',
    puts: [
      { ...entry, key: 'a', version: 1, createRevision: at(9) },
      { ...entry, key: 'b', version: 4, lease: { id: '7f' as LeaseId, ttlMs: 1 } },
    ],
    deletes: ['c'],
  });
  const request = decodeMessage('TxnRequest', transaction) as { compare: object[]; success: object[] };
  // The order of operations on different keys has no meaning.
  const keyOf = (one: object): string => /"key":"([^"]*)"/.exec(JSON.stringify(one))![1]!;
  const sorted = (list: object[]): object[] => list.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  assert.deepEqual(
    sorted(request.compare),
    sorted([
      { key: positionKey, version: '5' },
      { target: 2, key: positionKey, mod_revision: '8' },
      { key: '/registry/a', version: '0' },
      { key: '/registry/b', version: '3' },
      { result: 1, key: '/registry/c', version: '0' },
    ]),
  );
  assert.deepEqual(
    sorted(request.success),
    sorted([
      writesPosition,
      readsPosition,
      { put: { key: '/registry/a', value: 'v' } },
      { put: { key: '/registry/b', value: 'v', lease: '127' } },
      { delete_range: { key: '/registry/c' } },
    ]),
  );
});

test('a lease can be granted with an id, and all leases are listed', () => {
  const id = 0x7f00000000000001n;
  assert.deepEqual(decodeMessage('LeaseGrantRequest', unframed(encodeLeaseGrant(60, id))), {
    TTL: '60',
    ID: id.toString(),
  });
  const leases = [{ ID: id.toString() }, { ID: '-1' }];
  const message = encodeMessage('LeaseLeasesResponse', { header: { revision: 3 }, leases });
  assert.deepEqual(decodeLeases(message), [id, -1n]);
});
