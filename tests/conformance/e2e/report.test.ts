import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomesOf } from './report.ts';
import { allSpecs, parseSpecs } from './specs.ts';

const [spec] = parseSpecs('0.5\t[sig-a] Things should work [Conformance]\n');
const reported = {
  ContainerHierarchyTexts: ['[sig-a] Things'],
  LeafNodeType: 'It',
  LeafNodeText: 'should work [Conformance]',
  State: 'passed',
  RunTime: 1_500_000_000,
};

test('a spec is found by its full name', () => {
  const [outcome] = outcomesOf([spec!], [{ SpecReports: [reported] }], 'gone');
  assert.deepEqual(outcome, { spec, passed: true, wasRun: true, seconds: 1.5, cause: '' });
});

test('a failure has its place and the first of its words in one line', () => {
  const Failure = {
    Message: `it did not\n  work${'!'.repeat(1000)}`,
    Location: { FileName: 'k8s.io/kubernetes@v1/test/e2e/apps/a.go', LineNumber: 7 },
  };
  const [outcome] = outcomesOf([spec!], [{ SpecReports: [{ ...reported, State: 'failed', Failure }] }], 'gone');
  assert.equal(outcome!.passed, false);
  assert.match(outcome!.cause, /^failed at apps\/a\.go:7: it did not work!+$/);
  assert.ok(outcome!.cause.length < 500);
});

test('a spec without a turn is neither passed nor run, and says why', () => {
  const skipped = { ...reported, State: 'skipped' };
  for (const report of [[], [{ SpecReports: null }], [{ SpecReports: [skipped] }]]) {
    const [outcome] = outcomesOf([spec!], report, 'the program\nended');
    assert.deepEqual([outcome!.passed, outcome!.wasRun, outcome!.cause], [false, false, 'the program ended']);
  }
  const before = { ...reported, LeafNodeType: 'SynchronizedBeforeSuite', State: 'failed', Failure: { Message: 'no!' } };
  assert.match(outcomesOf([spec!], [{ SpecReports: [before] }], 'gone')[0]!.cause, /no!/);
});

test('the list of specs is complete, and names each once', () => {
  const names = allSpecs().map(({ name }) => name);
  assert.equal(names.length, 135);
  assert.equal(new Set(names).size, 135);
  assert.equal(allSpecs().filter(({ isWaiting }) => isWaiting).length, 2);
});
