import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { TestOwnership } from './testing/ownership.ts';
import { WriteGate } from './write-gate.ts';

function subject() {
  const clock = virtualClock();
  const ownership = new TestOwnership();
  const gate = new WriteGate({ name: 'red', clock, ownership });
  const answer = Promise.withResolvers<string>();
  let signal: AbortSignal | undefined;
  const send = (given: AbortSignal | undefined): Promise<string> => {
    signal = given;
    given?.addEventListener('abort', () => answer.reject(given.reason as Error));
    return answer.promise;
  };
  return { clock, ownership, gate, answer, send, sent: () => signal };
}

const code = (wanted: string) => (error: unknown) => hasCode(error, wanted);

test('nothing is sent without the right to, nor after it is closed, nor for whoever has gone', async () => {
  const { gate, ownership, send, sent } = subject();
  await assert.rejects(gate.write(AbortSignal.abort(), send), code('Aborted'));
  ownership.leftMs = 0;
  await assert.rejects(gate.write(undefined, send), code('Fenced'));
  ownership.leftMs = Infinity;
  gate.close();
  await assert.rejects(gate.write(undefined, send), code('Fenced'));
  assert.equal(sent(), undefined);
});

test('what is sent goes on when its asker goes, and is waited for', async () => {
  const { gate, answer, send, sent } = subject();
  const asker = new AbortController();
  const writing = gate.write(asker.signal, send);
  gate.close();
  asker.abort();
  await assert.rejects(writing, code('Aborted'));
  assert.ok(!sent()!.aborted);
  let isDrained = false;
  const drained = gate.drained().then(() => (isDrained = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(!isDrained);
  answer.resolve('done');
  await drained;
});

test('but not for ever', async () => {
  const { clock, gate, send, sent } = subject();
  const asker = new AbortController();
  const writing = gate.write(asker.signal, send);
  asker.abort();
  await assert.rejects(writing, code('Aborted'));
  const drained = gate.drained();
  await clock.advance(4_900);
  assert.ok(!sent()!.aborted);
  await clock.advance(200);
  assert.ok(sent()!.aborted);
  await drained;
});

test('it is broken off when the right ends under way', async () => {
  const { clock, gate, ownership, send } = subject();
  ownership.leftMs = 3_000;
  const writing = assert.rejects(gate.write(undefined, send), code('Fenced'));
  ownership.leftMs = 0;
  await clock.advance(3_100);
  await writing;
  await gate.drained();
});
