import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sampler } from './sampler.ts';
import type { SamplerSession } from './sampler.ts';

function world() {
  const answers: ((value: string) => void)[] = [];
  const samples: unknown[] = [];
  let [opened, open] = [0, 0];
  const connect = (): SamplerSession => {
    opened++;
    open++;
    return {
      post: (_method, _params, callback) => answers.push((value) => callback(null, { result: { value } })),
      disconnect: () => void open--,
    };
  };
  const sampler = new Sampler({ connect, onSample: (sample) => samples.push(sample) });
  return { sampler, answers, samples, sessions: () => [opened, open] };
}

test('one sample is asked for at a time while the beat is late, with one session', () => {
  const { sampler, answers, samples, sessions } = world();
  sampler.look(0, false);
  assert.deepEqual(sessions(), [0, 0]);
  sampler.look(1, true);
  sampler.look(2, true);
  assert.equal(answers.length, 1);
  answers[0]!('{"count":1}');
  assert.deepEqual(samples, [{ count: 1 }]);
  sampler.look(3, true);
  assert.equal(answers.length, 2);
  assert.deepEqual(sessions(), [1, 1]);
});

test('the session is closed when the beat is in time, also if no sample was answered', () => {
  const { sampler, answers, samples, sessions } = world();
  sampler.look(1, true);
  sampler.look(2, false);
  assert.deepEqual(sessions(), [1, 0]);
  sampler.look(3, true);
  answers[0]!('{"count":1}');
  assert.deepEqual(samples, [], 'an answer of a closed session does not count');
  answers[1]!('{"count":2}');
  assert.deepEqual(samples, [{ count: 2 }]);
  sampler.close();
  assert.deepEqual(sessions(), [2, 0]);
});
