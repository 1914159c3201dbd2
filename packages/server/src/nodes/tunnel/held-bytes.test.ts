import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldBytes, TotalHeldBytes } from './held-bytes.ts';

const mebibyte = 1024 * 1024;

class User {
  calls = 0;
  hasRoom(): void {
    this.calls++;
  }
}

test('if the server holds too much, the control plane that holds the most waits', () => {
  const total = new TotalHeldBytes(8 * mebibyte);
  const [large, small] = [new HeldBytes(16 * mebibyte, total), new HeldBytes(16 * mebibyte, total)];
  const user = new User();
  large.add(3 * mebibyte);
  assert.equal(large.isFull(user), false);
  large.add(2 * mebibyte);
  small.add(mebibyte);
  assert.equal(large.isFull(user), true, '5 MiB held, 2 MiB free');
  assert.equal(small.isFull(new User()), false, '1 MiB held, 2 MiB free');
  large.release(3 * mebibyte);
  assert.equal(user.calls, 1);
  assert.equal(large.isFull(user), false);
});

test('a control plane that holds little never waits for the others', () => {
  const total = new TotalHeldBytes(mebibyte);
  const [large, small] = [new HeldBytes(16 * mebibyte, total), new HeldBytes(16 * mebibyte, total)];
  large.add(2 * mebibyte);
  small.add(100_000);
  assert.equal(small.isFull(new User()), false);
});

test('the bytes of a control plane are limited as before', () => {
  const [held, user] = [new HeldBytes(1_000), new User()];
  held.add(1_001);
  assert.equal(held.isFull(user), true);
  held.release(1);
  assert.equal(user.calls, 1);
  assert.equal(held.isFull(user), false);
});

test('a user that ended is not notified', () => {
  const total = new TotalHeldBytes(mebibyte);
  const [held, user] = [new HeldBytes(16 * mebibyte, total), new User()];
  held.add(2 * mebibyte);
  assert.equal(held.isFull(user), true);
  held.forget(user);
  held.release(2 * mebibyte);
  assert.equal(user.calls, 0);
});
