import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, defaultImages } from './catalogue.ts';
import type { Image } from './catalogue.ts';

test('the images of every node need no Debian package', () => {
  for (const name of defaultImages) assert.equal((catalogue[name] as Image).packages, undefined, name);
});

test('a program with the rights of its owner is in its image', () => {
  for (const image of Object.values<Image>(catalogue)) {
    for (const path of image.setuid ?? []) assert.ok(Object.hasOwn(image.programs, path), path);
  }
});

test('agnhost serves TLS with a certificate and its key', () => {
  const files = catalogue['e2e-agnhost'].generated();
  assert.match(files['localhost.crt']!, /^-----BEGIN CERTIFICATE-----/);
  assert.match(files['localhost.key']!, /^-----BEGIN (?:EC )?PRIVATE KEY-----/);
});
