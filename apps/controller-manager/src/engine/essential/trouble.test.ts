import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trouble } from './trouble.ts';

const refused = { status: 403, isWrite: true, refusal: 'User "a" cannot create resource "b"' };

test('writes without the right to them are told of after several in a row, whatever is read meanwhile', () => {
  const trouble = new Trouble();
  for (let count = 0; count < 4; count++) {
    trouble.answered(refused);
    trouble.answered({ status: 200, isWrite: false });
    assert.equal(trouble.said, undefined);
  }
  trouble.answered(refused);
  assert.equal(trouble.said?.reason, 'Forbidden');
  trouble.answered({ status: 200, isWrite: false });
  assert.equal(trouble.said?.reason, 'Forbidden');
  assert.match(trouble.lastError!, /cannot create/);
  trouble.answered({ status: 409, isWrite: true });
  assert.equal(trouble.said, undefined);
});

test('what is refused for its own sake is no trouble, and one that is done ends the row', () => {
  const trouble = new Trouble();
  for (let count = 0; count < 20; count++) trouble.answered({ status: 403, isWrite: true });
  for (let count = 0; count < 20; count++) trouble.answered(count % 4 === 3 ? { status: 201, isWrite: true } : refused);
  assert.equal(trouble.said, undefined);
});
