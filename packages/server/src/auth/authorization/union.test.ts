import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Authorizer, Verdict } from '../authorize.ts';
import { AuthorizerUnion } from './union.ts';

const user = { name: 'u', uid: '', groups: [], extra: {} };
const info = { isResource: false, verb: 'get', path: '/' } as const;
const says = (verdict: Verdict): Authorizer => ({ authorize: () => verdict });
const later = (verdict: Verdict): Authorizer => ({ authorize: () => Promise.resolve(verdict) });
const judge = (...authorizers: Authorizer[]) => new AuthorizerUnion(authorizers).judge(user, info);

test('what is known at once is told at once', () => {
  assert.deepEqual(judge(says('no opinion'), says('allow')), { decision: 'allow', reason: '' });
  assert.ok(judge(says('no opinion'), later('allow')) instanceof Promise);
});

test('reasons of those without an opinion are told together, and forgotten when one has one', async () => {
  const a = { decision: 'no opinion', reason: 'a' } as const;
  assert.deepEqual(judge(says(a), says({ ...a, reason: 'b' })), { decision: 'no opinion', reason: 'a\nb' });
  assert.deepEqual(await judge(says(a), later({ ...a, reason: 'b' }), says('no opinion')), {
    decision: 'no opinion',
    reason: 'a\nb',
  });
  assert.deepEqual(judge(says(a), says({ decision: 'deny', reason: 'c' })), { decision: 'deny', reason: 'c' });
});

test('an authorizer that fails allows nothing, and does not stop the others', async () => {
  const throws: Authorizer = {
    authorize() {
      throw new Error('broken');
    },
  };
  const rejects: Authorizer = { authorize: () => Promise.reject(new Error('gone')) };
  const failed = await judge(throws, rejects);
  assert.deepEqual([failed.decision, failed.error?.message], ['no opinion', '[broken, gone]']);
  assert.equal((await judge(throws, rejects, says('allow'))).decision, 'allow');
  assert.equal((await judge(rejects, says('deny'))).decision, 'deny');
});
