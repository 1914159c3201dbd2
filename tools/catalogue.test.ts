import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, isToolName, sets, toolNames } from './catalogue.ts';

test('a program is catalogued under its own name', () => {
  for (const name of toolNames) assert.equal(catalogue[name].name, name);
});

test('only catalogued names are tool names', () => {
  assert.ok(isToolName('kube-apiserver'));
  assert.ok(!isToolName('toString'));
});

test('a Kubernetes program is stamped with its version in both packages that report one', () => {
  const stamp = sets.kubernetes.stamp({ version: 'v1.36.4', time: '2026-01-02T03:04:05Z' });
  for (const path of ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']) {
    assert.equal(stamp[`${path}.gitVersion`], 'v1.36.4');
    assert.equal(stamp[`${path}.gitMajor`], '1');
    assert.equal(stamp[`${path}.gitMinor`], '36');
    assert.equal(stamp[`${path}.buildDate`], '2026-01-02T03:04:05Z');
  }
});

test('agnhost is stamped with the version of its set', () => {
  const stamp = sets.kubernetes.stamp({ version: 'v1.36.4', time: '2026-01-02T03:04:05Z' });
  assert.equal(stamp['main.Version'], 'v1.36.4');
});

test('clusterctl is stamped with the version that it requires', () => {
  const stamp = sets['cluster-api'].stamp({ version: 'v1.14.2', time: '2026-01-02T03:04:05Z' });
  assert.equal(stamp['sigs.k8s.io/cluster-api/version.gitVersion'], 'v1.14.2');
  assert.equal(stamp['sigs.k8s.io/cluster-api/version.gitMinor'], '14');
});

test("etcd's download is the archive of the platform", () => {
  assert.deepEqual(catalogue.etcd.download('v3.6.1', { os: 'linux', arch: 'arm64' }), {
    url: 'https://github.com/etcd-io/etcd/releases/download/v3.6.1/etcd-v3.6.1-linux-arm64.tar.gz',
    checksumUrl: 'https://github.com/etcd-io/etcd/releases/download/v3.6.1/SHA256SUMS',
    member: 'etcd-v3.6.1-linux-arm64/etcd',
  });
});
