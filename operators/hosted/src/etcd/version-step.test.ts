import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEtcdVersion, versionStep } from './version-step.ts';

const steps: readonly (readonly [current: string, wanted: string, type: string, result: string])[] = [
  ['3.6.8-0', '3.6.8-0', 'none', ''],
  ['3.6.5-0', '3.6.8-0', 'patch', '3.6.8-0'],
  ['3.6.8-0', '3.6.8-1', 'patch', '3.6.8-1'],
  ['3.5.26-0', '3.6.8-0', 'minor', '3.6.8-0'],
  ['3.5.35-0', '3.6.8-0', 'minor', '3.6.8-0'],
  ['3.5.24-0', '3.6.8-0', 'patch', '3.5.26-0'],
  ['3.5.9-0', '3.6.8-0', 'patch', '3.5.26-0'],
  ['3.6.8-0', '3.6.5-0', 'refused', 'EtcdDowngrade'],
  ['3.6.8-0', '3.5.26-0', 'refused', 'EtcdDowngrade'],
  ['3.4.30-0', '3.6.8-0', 'refused', 'EtcdVersionSkipped'],
  ['3.6.8-0', '4.0.0-0', 'refused', 'EtcdVersionSkipped'],
  ['custom', '3.6.8-0', 'patch', '3.6.8-0'],
  ['3.6.8-0', 'sha256:abc', 'patch', 'sha256:abc'],
];

for (const [current, wanted, type, result] of steps) {
  test(`from ${current} to ${wanted}: ${type} ${result}`, () => {
    const step = versionStep(current, wanted);
    assert.equal(step.type, type);
    if (step.type === 'refused') assert.equal(step.reason, result);
    else if (step.type !== 'none') assert.equal(step.tag, result);
  });
}

test('every path of steps ends at the wanted version or is refused, without a skipped minor version', () => {
  const tags = ['3.4.0-0', '3.5.0-0', '3.5.25-0', '3.5.26-0', '3.6.0-0', '3.6.16-0', '3.7.0-0'];
  for (const from of tags) {
    for (const to of tags) {
      let [current, count] = [from, 0];
      for (
        let step = versionStep(current, to);
        step.type === 'patch' || step.type === 'minor';
        step = versionStep(current, to)
      ) {
        const [before, after] = [parseEtcdVersion(current)!, parseEtcdVersion(step.tag)!];
        assert.ok(after.minor - before.minor === (step.type === 'minor' ? 1 : 0), `${current} → ${step.tag}`);
        current = step.tag;
        assert.ok(++count <= 3, `${from} → ${to}`);
      }
      if (current !== from) assert.equal(current, to);
    }
  }
});

test('a version without the revision of the image has revision 0', () => {
  assert.equal(parseEtcdVersion('3.6.8')!.tag, '3.6.8-0');
  assert.equal(parseEtcdVersion('latest'), undefined);
});
