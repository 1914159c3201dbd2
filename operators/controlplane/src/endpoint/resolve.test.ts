import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtinAddresses } from './builtin.ts';
import { addressList, httpsUrl, isSameAddress, resolveAddresses } from './resolve.ts';

const at = (host: string): string => `https://${host}/clusters/a/control-plane`;

describe('addresses of an endpoint', () => {
  const table: [
    title: string,
    spec: object,
    status: object | undefined,
    expected: [string, string, string] | undefined,
  ][] = [
    ['nothing is no address', {}, undefined, undefined],
    ['only an external one is no address', { externalEndpoint: 'https://x' }, undefined, undefined],
    ['external and join fall back to the internal one', { endpoint: at('x') }, undefined, [at('x'), at('x'), at('x')]],
    ['the path is appended unless it is there', { endpoint: 'https://x' }, undefined, [at('x'), at('x'), at('x')]],
    ['a slash at the end is no path', { endpoint: 'https://x/' }, undefined, [at('x'), at('x'), at('x')]],
    ['the path with a slash at the end is there', { endpoint: `${at('x')}/` }, undefined, [at('x'), at('x'), at('x')]],
    [
      'a path before it stays',
      { endpoint: 'https://x/y' },
      undefined,
      [
        'https://x/y/clusters/a/control-plane',
        'https://x/y/clusters/a/control-plane',
        'https://x/y/clusters/a/control-plane',
      ],
    ],
    [
      "another control plane's path is not this one's",
      { endpoint: 'https://x/clusters/ba/control-plane' },
      undefined,
      [
        'https://x/clusters/ba/control-plane/clusters/a/control-plane',
        'https://x/clusters/ba/control-plane/clusters/a/control-plane',
        'https://x/clusters/ba/control-plane/clusters/a/control-plane',
      ],
    ],
    [
      'another host stands for the control plane',
      { endpoint: 'https://x', externalEndpoint: 'https://a.y' },
      undefined,
      [at('x'), 'https://a.y', 'https://a.y'],
    ],
    [
      'the same host needs the path',
      { endpoint: at('x'), joinEndpoint: 'https://x' },
      undefined,
      [at('x'), at('x'), at('x')],
    ],
    ['status wins over spec', { endpoint: 'https://x' }, { endpoint: 'https://z' }, [at('z'), at('z'), at('z')]],
    [
      'each by itself',
      { endpoint: 'https://x', externalEndpoint: 'https://y' },
      { endpoint: 'https://z' },
      [at('z'), 'https://y', 'https://y'],
    ],
    [
      'empty says nothing',
      { endpoint: 'https://x' },
      { endpoint: '', externalEndpoint: '', joinEndpoint: '' },
      [at('x'), at('x'), at('x')],
    ],
    ['what is no https URL says nothing', { endpoint: 'http://x' }, undefined, undefined],
    ['nor what has a user in it', { endpoint: 'https://u@x' }, undefined, undefined],
    [
      'upper case and the default port are the same place',
      { endpoint: 'https://X:443', externalEndpoint: 'https://x' },
      undefined,
      [at('x'), at('x'), at('x')],
    ],
  ];
  for (const [title, spec, status, expected] of table) {
    test(title, () => {
      const found = resolveAddresses({ spec, ...(status ? { status } : {}) }, 'a');
      assert.deepEqual(found && [found.internal, found.external, found.join], expected);
    });
  }

  test('are listed with their types', () => {
    const list = addressList({ internal: 'i', external: 'e', join: 'j' });
    assert.deepEqual(list, [
      { type: 'Internal', url: 'i' },
      { type: 'External', url: 'e' },
      { type: 'Join', url: 'j' },
    ]);
  });
});

describe('the same address', () => {
  test('counts neither case of the host nor default port nor slashes', () => {
    assert.ok(isSameAddress('https://A.example:443/x/', 'https://a.example/x'));
    assert.ok(!isSameAddress('https://a.example/x', 'https://a.example/X'));
    assert.ok(!isSameAddress('https://a.example', 'https://a.example:6443'));
    assert.ok(!isSameAddress(undefined, undefined));
    assert.ok(!isSameAddress('nonsense', 'nonsense'));
  });

  test('is an https URL with host and path and nothing else', () => {
    for (const bad of [undefined, '', 'a', 'http://a', 'https://a?b', 'https://a#b', 'https://u:p@a']) {
      assert.equal(httpsUrl(bad), undefined, `${bad}`);
    }
  });
});

describe('the built-in provider', () => {
  const internalUrl = 'https://10.0.0.1:6443';
  test('gives the path at its own address', () => {
    const given = builtinAddresses({ internalUrl, clusterPath: 'a' });
    assert.deepEqual(given, { endpoint: at('10.0.0.1:6443'), externalEndpoint: at('10.0.0.1:6443') });
  });

  test('gives the external address to others', () => {
    const given = builtinAddresses({ internalUrl, externalUrl: 'https://hangar.example', clusterPath: 'a' });
    assert.equal(given.externalEndpoint, at('hangar.example'));
  });

  test('gives the host name at the port where others come in', () => {
    const hostname = 'a.hangar.example';
    assert.equal(
      builtinAddresses({ internalUrl, clusterPath: 'a', hostname }).externalEndpoint,
      'https://a.hangar.example:6443',
    );
    const externalUrl = 'https://hangar.example';
    const given = builtinAddresses({ internalUrl, externalUrl, clusterPath: 'a', hostname });
    assert.equal(given.externalEndpoint, 'https://a.hangar.example');
    assert.equal(given.endpoint, at('10.0.0.1:6443'));
  });

  test('an empty host name is none', () => {
    assert.equal(
      builtinAddresses({ internalUrl, clusterPath: 'a', hostname: '' }).externalEndpoint,
      at('10.0.0.1:6443'),
    );
  });
});
