import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrpcError } from '@hangar/http2/grpc';
import { StoreError } from '../../errors.ts';
import { isAnswerTooLarge, judge, judgeReason } from './verdict.ts';

const answered = (status: number, message: string) => judge(new GrpcError(status, message, { fate: 'answered' }));
const short = ({ code, executed, remedy }: ReturnType<typeof judge>) => [code, executed, remedy];

test('etcd’s refusals become codes of the contract, and nothing happened', () => {
  const codes: Record<string, string> = {
    'etcdserver: mvcc: required revision has been compacted': 'Compacted',
    'etcdserver: mvcc: required revision is a future revision': 'FutureRevision',
    'etcdserver: mvcc: database space exceeded': 'StorageFull',
    'etcdserver: requested lease not found': 'LeaseNotFound',
    'etcdserver: request is too large': 'ValueTooLarge',
    'etcdserver: too many requests': 'Overloaded',
    'etcdserver: authentication failed, invalid user ID or password': 'Unauthenticated',
    'etcdserver: permission denied': 'Unauthenticated',
    'etcdserver: corrupt cluster': 'StorageDamaged',
  };
  for (const [text, code] of Object.entries(codes))
    assert.deepEqual(short(answered(2, text)), [code, 'no', 'none'], text);
});

test('a token that expired is renewed, because nothing happened', () => {
  assert.deepEqual(short(answered(16, 'etcdserver: invalid auth token')), ['Unauthenticated', 'no', 'authenticate']);
  assert.deepEqual(short(answered(3, 'etcdserver: user name is empty')), ['Unauthenticated', 'no', 'authenticate']);
});

test('a member without a leader did nothing; one that timed out perhaps did', () => {
  assert.deepEqual(short(answered(14, 'etcdserver: no leader')), ['Unavailable', 'no', 'elsewhere']);
  assert.deepEqual(short(answered(14, 'etcdserver: request timed out')), ['Unavailable', 'perhaps', 'elsewhere']);
  assert.deepEqual(short(answered(14, 'etcdserver: server stopped')), ['Unavailable', 'perhaps', 'elsewhere']);
});

test('texts that are not in the table are judged by their status, and by default perhaps happened', () => {
  assert.deepEqual(short(answered(3, 'something new')), ['InvalidRequest', 'no', 'none']);
  assert.deepEqual(short(answered(7, 'something new')), ['Unauthenticated', 'no', 'none']);
  assert.deepEqual(short(answered(14, 'something new')), ['Unavailable', 'perhaps', 'elsewhere']);
  assert.deepEqual(short(answered(2, 'something new')), ['Unavailable', 'perhaps', 'elsewhere']);
  const tooLarge = answered(8, 'grpc: received message larger than max (2097270 vs. 2097152)');
  assert.deepEqual(short(tooLarge), ['ValueTooLarge', 'no', 'none']);
});

test('a call that was never sent did not happen, one that was lost perhaps did', () => {
  const unsent = judge(new GrpcError(14, 'refused', { fate: 'unsent' }));
  assert.deepEqual(short(unsent), ['Unavailable', 'no', 'elsewhere']);
  const lost = judge(new GrpcError(14, 'broken', { fate: 'lost' }));
  assert.deepEqual(short(lost), ['Unavailable', 'perhaps', 'elsewhere']);
  const certificate = judge(new GrpcError(16, 'bad certificate', { fate: 'unsent' }));
  assert.deepEqual(short(certificate), ['Unauthenticated', 'no', 'none']);
});

test('the reason of a cancelled watch is judged like an error', () => {
  const reason = 'rpc error: code = PermissionDenied desc = etcdserver: permission denied';
  assert.equal(judgeReason(reason).code, 'Unauthenticated');
  assert.equal(judgeReason('etcdserver: invalid auth token').remedy, 'authenticate');
  assert.equal(judgeReason('').code, 'Unavailable');
});

test('a StoreError keeps its code, and what is no expected error is thrown again', () => {
  assert.equal(judge(new StoreError('Closed', 'closed')).code, 'Closed');
  assert.throws(() => judge(new TypeError('a bug')), TypeError);
});

test('an answer that is too large is told from a request that is', () => {
  const answer = judge(new GrpcError(8, 'a message of 99999999 bytes', { fate: 'lost' }));
  assert.ok(isAnswerTooLarge(answer.error));
  assert.ok(!isAnswerTooLarge(answered(8, 'larger than max').error));
  assert.ok(!isAnswerTooLarge(new Error('other')));
});
