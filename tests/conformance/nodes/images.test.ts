import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aliasesOf, conformanceImages } from './images.ts';

test('the names of the test program lead to images of this repository', () => {
  const listed = [
    'hangar.test/e2e/busybox:1.37.0-1',
    'hangar.test/e2e/agnhost:2.63.0',
    'hangar.test/e2e/agnhost:2.55',
    'hangar.test/e2e/glibc-dns-testing:2.0.0',
    'hangar.test/e2e/pause:3.10.2',
    '',
  ];
  assert.deepEqual(aliasesOf(listed.join('\n')), [
    { image: 'e2e-agnhost', name: 'hangar.test/e2e/agnhost:2.55' },
    { image: 'e2e-agnhost', name: 'hangar.test/e2e/agnhost:2.63.0' },
    { image: 'e2e-busybox', name: 'hangar.test/e2e/busybox:1.37.0-1' },
    { image: 'e2e-agnhost', name: 'hangar.test/e2e/glibc-dns-testing:2.0.0' },
    { image: 'pause', name: 'hangar.test/e2e/pause:3.10.2' },
  ]);
});

test('images of private and invalid registries, and those that no conformance spec runs, are not on the nodes', () => {
  const listed = [
    'private.hangar.test/e2e/agnhost:2.6',
    'invalid.hangar.test/invalid/alpine:3.1',
    'hangar.test/e2e/volume/nfs:1.6.0',
    'hangar.test/e2e/constructor:1',
  ];
  assert.deepEqual(aliasesOf(listed.join('\n')), []);
});

test('the nodes have the DNS server beside the images of the specs', () => {
  assert.ok(conformanceImages.includes('coredns'));
  assert.equal(new Set(conformanceImages).size, conformanceImages.length);
});
