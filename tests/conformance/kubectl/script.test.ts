import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCases } from './script.ts';

test('sections are cases, commands are steps, and an exclamation mark says that a step fails', () => {
  const text = ['# why', '## one', 'kubectl get a', '', '! kubectl get b', '## two', '# because', 'true'].join('\n');
  assert.deepEqual(parseCases(text), [
    {
      name: 'one',
      steps: [
        { command: 'kubectl get a', fails: false },
        { command: 'kubectl get b', fails: true },
      ],
    },
    { name: 'two', steps: [{ command: 'true', fails: false }] },
  ]);
});

test('the input of a step belongs to it, with its empty lines and comments', () => {
  const step = ["kubectl apply -f - <<'END' | sort", '# a', '', '## b', 'END'].join('\n');
  assert.deepEqual(parseCases(`## one\n${step}\nkubectl get a`)[0]?.steps, [
    { command: step, fails: false },
    { command: 'kubectl get a', fails: false },
  ]);
});

test('a backslash joins lines', () => {
  assert.equal(parseCases('## one\nkubectl get \\\n  a\ntrue')[0]?.steps[0]?.command, 'kubectl get \\\n  a');
});

for (const [text, message] of [
  ['kubectl get a', /before the first case/],
  ['## a\ntrue\n## a\ntrue', /two cases are named "a"/],
  ['## a\n## b\ntrue', /"a" has no steps/],
  ["## a\ncat <<'END'\nx", /no END ends the input/],
] as const) {
  test(`refused: ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseCases(text), message);
  });
}
