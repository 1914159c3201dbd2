import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, seal } from './secretbox.ts';

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

// The example in NaCl's documentation.
const key = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const plain = hex(`be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc
  e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31
  0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde
  048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864
  5e0705`);
const sealed = hex(`f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce
  48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
  71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae
  90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3
  7973f622a43d14a6599b1f654cb45a74e355a5`);

test('boxes are those of NaCl', () => {
  assert.deepEqual(Buffer.from(seal(plain, nonce, key)), Buffer.from(sealed));
  assert.deepEqual(Buffer.from(open(sealed, nonce, key)!), Buffer.from(plain));
});

test('a changed box, another nonce and another key do not open', () => {
  for (let i = 0; i < sealed.length; i += 7) {
    const changed = Uint8Array.from(sealed);
    changed[i]! ^= 1;
    assert.equal(open(changed, nonce, key), undefined);
  }
  assert.equal(
    open(
      sealed,
      Uint8Array.from(nonce, (byte) => byte ^ 1),
      key,
    ),
    undefined,
  );
  assert.equal(
    open(
      sealed,
      nonce,
      Uint8Array.from(key, (byte) => byte ^ 1),
    ),
    undefined,
  );
  assert.equal(open(sealed.subarray(0, 15), nonce, key), undefined);
});

test('every length comes back', () => {
  for (let length = 0; length < 200; length++) {
    const message = Uint8Array.from({ length }, (_, index) => index);
    assert.deepEqual(open(seal(message, nonce, key), nonce, key), message);
  }
});
