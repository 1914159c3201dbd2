import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatVersion, parseDebianVersion, parseVersion, refusal } from './version.ts';

test('the version is found in what each program prints', () => {
  const outputs = {
    'etcd Version: 3.6.16\nGit SHA: 1234\nGo Version: go1.26.8': 'v3.6.16',
    'etcdctl version: 3.6.16\nAPI version: 3.6': 'v3.6.16',
    'Client Version: v1.36.4\nKustomize Version: v5.8.1': 'v1.36.4',
    'Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0': 'v1.32.4-dispatcher',
    'Kubernetes v1.36.4': 'v1.36.4',
    'runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1': 'v1.1.5',
    'strace -- version 6.1\nCopyright (c) 1991-2022': 'v6.1.0',
  };
  for (const [output, expected] of Object.entries(outputs)) {
    const version = parseVersion(output);
    assert.equal(version && formatVersion(version), expected);
  }
});

test('text without a version has none', () => {
  assert.equal(parseVersion('command not found'), undefined);
});

test('a version is refused when it is too old, too new or not a plain release', () => {
  const accepted = { from: '1.36', before: '1.37' };
  const cases = {
    'v1.36.0': undefined,
    'v1.36.14': undefined,
    'v1.35.9': 'is v1.35.9, older than 1.36',
    'v1.37.0': 'is v1.37.0, not older than 1.37',
    'v1.36.4-dispatcher': 'is v1.36.4-dispatcher, which is not a plain release',
    'v1.36.4+k3s1': 'is v1.36.4+k3s1, which is not a plain release',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(refusal(parseVersion(text)!, accepted), expected);
});

test('without an upper bound every newer version is accepted', () => {
  assert.equal(refusal(parseVersion('3.10.0')!, { from: '3.5' }), undefined);
});

test('a Debian version gives its upstream version', () => {
  const cases = {
    '3.5.16-4+b1': 'v3.5.16',
    '1:6.1-0.1': 'v6.1.0',
    '6.13+ds-1': 'v6.13.0',
    '1.20.5+really1.20.2-1.1+deb12u1': 'v1.20.2',
  };
  for (const [text, expected] of Object.entries(cases))
    assert.equal(formatVersion(parseDebianVersion(text)!), expected);
});
