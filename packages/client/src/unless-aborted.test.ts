import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { unlessAborted } from './unless-aborted.ts';

test('waiting ends with the work or with the signal, and leaves no listener', async () => {
  const { signal } = new AbortController();
  assert.equal(await unlessAborted(Promise.resolve(7), signal), 7);
  assert.equal(await unlessAborted(Promise.resolve(7), undefined), 7);
  await assert.rejects(unlessAborted(Promise.reject(new Error('no')), signal), /no/);
  assert.equal(getEventListeners(signal, 'abort').length, 0);

  const stopping = new AbortController();
  const waiting = unlessAborted(new Promise(() => {}), stopping.signal);
  stopping.abort();
  await assert.rejects(waiting, { code: 'Aborted' });
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
  await assert.rejects(
    unlessAborted(new Promise(() => {}), stopping.signal),
    { code: 'Aborted' },
    'it is too late already',
  );
});

test('work that fails when nobody waits any more is no unhandled rejection', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  await assert.rejects(unlessAborted(promise, AbortSignal.abort()), { code: 'Aborted' });
  reject(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});
