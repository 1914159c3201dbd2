import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, lineDifference, surprises } from './difference.ts';

const steps = [{ command: 'kubectl get a', fails: false }];
const well = { exit: 0, stdout: 'a\nb\n', stderr: '' };

test('equal outcomes have no differences', () => {
  assert.deepEqual(differences(steps, [well], [{ ...well }]), []);
});

test('exit code, stdout and stderr are compared', () => {
  const [text = ''] = differences(steps, [well], [{ exit: 1, stdout: 'a\nc\n', stderr: 'oh' }]);
  assert.match(text, /^\$ kubectl get a\nexit:\n- 0\n\+ 1\nstdout:\n {2}a\n- b\n\+ c\n {2}\nstderr:\n- \n\+ oh$/);
});

test('only the surroundings of a change are shown', () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = before.with(10, 'changed');
  assert.equal(
    lineDifference(before.join('\n'), after.join('\n')),
    ['  line 8', '  line 9', '- line 10', '+ changed', '  line 11', '  line 12', '  …'].join('\n'),
  );
});

test('a step that goes otherwise than its script says is a surprise, on the real server only', () => {
  assert.deepEqual(surprises(steps, [well]), []);
  assert.match(surprises(steps, [{ ...well, exit: 1 }])[0] ?? '', /was to succeed on the real server, exit 1/);
  assert.match(surprises([{ command: 'x', fails: true }], [well])[0] ?? '', /was to fail on the real server, exit 0/);
});
