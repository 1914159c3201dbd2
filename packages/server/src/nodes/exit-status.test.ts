import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitStatus } from './exit-status.ts';

test('a message on the error stream that is not a Status is an error, not an exception', () => {
  const failure = { status: 'Failure', reason: 'NonZeroExitCode' };
  const messages: readonly unknown[] = [
    null,
    5,
    'text',
    [],
    { ...failure, details: 5 },
    { ...failure, details: { causes: 5 } },
    { ...failure, details: { causes: {} } },
    { ...failure, details: { causes: [null] } },
    { ...failure, details: { causes: [{ reason: 'ExitCode', message: {} }] } },
    { ...failure, reason: {}, message: {} },
  ];
  for (const message of messages) {
    const text = JSON.stringify(message);
    const { status, reason } = exitStatus(text, true) as { status: string; reason: string };
    assert.deepEqual([status, reason], ['Failure', 'InternalError'], text);
  }
});
