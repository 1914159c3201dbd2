import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testAuthority } from '@hangar/testkit';
import { configOfKubeconfig, loadKubeconfig } from './kubeconfig.ts';
import { base64, kubeconfig, testFolder } from './testing/files.ts';
import type { Parts } from './testing/files.ts';

const authority = testAuthority();
const pair = authority.client('ada', ['builders']);
const invalid = (message: RegExp) => ({ code: 'InvalidKubeconfig', message });

describe('a kubeconfig', () => {
  test('says where the cluster is, by what it is known and who asks', async () => {
    const config = await configOfKubeconfig(
      kubeconfig({
        cluster: {
          server: 'https://example.com:6443/clusters/east/',
          'certificate-authority-data': base64(authority.certificate),
          'tls-server-name': 'api.internal',
          'proxy-url': 'socks5://proxy:1080',
          'disable-compression': true,
        },
        user: {
          token: 'secret',
          as: 'ada',
          'as-uid': '7',
          'as-groups': ['builders'],
          'as-user-extra': { reason: ['a', 'b'] },
        },
        context: { namespace: 'team' },
      }),
    );
    const { credentials, ...rest } = config;
    assert.deepEqual(rest, {
      server: 'https://example.com:6443/clusters/east',
      ca: authority.certificate,
      serverName: 'api.internal',
      isInsecure: false,
      proxyUrl: 'socks5://proxy:1080',
      disableCompression: true,
      impersonate: { user: 'ada', uid: '7', groups: ['builders'], extra: { reason: ['a', 'b'] } },
      namespace: 'team',
    });
    assert.deepEqual(await credentials!.headers(), { authorization: 'Bearer secret' });
  });

  test('has credentials of every kind', async () => {
    const credentialsOf = async (user: object) => (await configOfKubeconfig(kubeconfig({ user }))).credentials;
    const basic = await credentialsOf({ username: 'ada', password: 'pass:word' });
    assert.deepEqual(await basic!.headers(), { authorization: `Basic ${base64('ada:pass:word')}` });
    const certificate = {
      'client-certificate-data': base64(pair.certificate),
      'client-key-data': base64(pair.key),
    };
    const byCertificate = await credentialsOf(certificate);
    assert.deepEqual(await byCertificate!.clientCertificate!(), { certificate: pair.certificate, key: pair.key });
    assert.deepEqual(await byCertificate!.headers(), {});
    const both = await credentialsOf({ ...certificate, token: 'secret' });
    assert.equal((await both!.clientCertificate!())?.key, pair.key);
    assert.deepEqual(await both!.headers(), { authorization: 'Bearer secret' });
    assert.equal(await credentialsOf({}), undefined);
  });

  test('has no credentials for a server without TLS, as in kubectl', async () => {
    for (const server of ['http://127.0.0.1:8001', '127.0.0.1:8001']) {
      const config = await configOfKubeconfig(
        kubeconfig({ cluster: { server }, user: { token: 'secret', as: 'ada' } }),
      );
      assert.deepEqual(
        [config.server, config.credentials, config.impersonate],
        ['http://127.0.0.1:8001', undefined, undefined],
      );
    }
  });

  test('is YAML or JSON or an object, and a context of it can be chosen', async () => {
    const text = `
apiVersion: v1
kind: Config
clusters:
- name: east
  cluster: {server: "https://east:6443"}
- name: west
  cluster: {server: west:8080}
contexts:
- {name: east, context: {cluster: east}}
- {name: west, context: {cluster: west, user: ""}}
current-context: east
`;
    assert.equal((await configOfKubeconfig(text)).server, 'https://east:6443');
    assert.equal((await configOfKubeconfig(text, { context: 'west' })).server, 'http://west:8080');
    await assert.rejects(
      configOfKubeconfig(text, { context: 'north' }),
      invalid(/context "north" does not exist.*"east", "west"/),
    );
    assert.equal((await configOfKubeconfig(JSON.stringify(kubeconfig()))).server, 'https://127.0.0.1:6443');
  });

  const broken: readonly (readonly [what: string, content: string | object, message: RegExp])[] = [
    ['no YAML', 'a: [', /kubeconfig: is not valid YAML/],
    ['a list', '- a', /kubeconfig:: expected an object/],
    ['nothing', '', /current-context: must be set, or a context must be given; available contexts: none/],
    ['another kind', { kind: 'Secret' }, /kind: expected Config, found "Secret"/],
    ['clusters that are no list', { clusters: 'x' }, /clusters: expected a list/],
    ['two clusters of a name', { clusters: [{ name: 'a' }, { name: 'a' }] }, /clusters\[1\]\.name: duplicate name "a"/],
    ['a name that is no text', { users: [{ name: 7 }] }, /users\[0\]\.name: expected a string/],
    ['a context of no cluster', kubeconfig({ context: { cluster: 'y' } }), /cluster "y" does not exist/],
    ['a context of no user', kubeconfig({ context: { user: 'y' } }), /user "y" does not exist/],
    ['no server', kubeconfig({ cluster: { server: '' } }), /clusters\["c"\]\.cluster\.server: must be set/],
    ['a server that is none', kubeconfig({ cluster: { server: 'https://a b' } }), /is not a valid server URL/],
    ['a server of files', kubeconfig({ cluster: { server: 'file:///etc' } }), /must start with https/],
    ['a server with a password', kubeconfig({ cluster: { server: 'https://a:b@c' } }), /is not a valid server URL/],
    ['a number for a text', kubeconfig({ cluster: { server: 7 } }), /server: expected a string/],
    ['a text for a flag', kubeconfig({ cluster: { 'insecure-skip-tls-verify': 'no' } }), /expected true or false/],
    [
      'an odd proxy',
      kubeconfig({ cluster: { 'proxy-url': 'ftp://x' } }),
      /proxy-url: is not an http, https or socks5 URL/,
    ],
    [
      'no PEM',
      kubeconfig({ cluster: { 'certificate-authority-data': base64('x') } }),
      /authority-data: is not base64-encoded PEM/,
    ],
    [
      'an authority that does not count',
      kubeconfig({
        cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(authority.certificate) },
      }),
      /must not be true when a certificate authority is set/,
    ],
    [
      'two proofs',
      kubeconfig({ user: { token: 'a', username: 'b' } }),
      /username: must not be set together with token/,
    ],
    [
      'a header in a token',
      kubeconfig({ user: { token: 'a\r\nx-b: c' } }),
      /token: contains characters that are not allowed in a token/,
    ],
    [
      'a header in a name',
      kubeconfig({ user: { as: 'a\r\nx-b: c' } }),
      /as: contains characters that are not allowed in a header/,
    ],
    ['groups of nobody', kubeconfig({ user: { 'as-groups': ['a'] } }), /as: must be set/],
    [
      'a certificate without a key',
      kubeconfig({ user: { 'client-certificate-data': base64(pair.certificate) } }),
      /client-key: must be set/,
    ],
    [
      'the key of another',
      kubeconfig({
        user: {
          'client-certificate-data': base64(pair.certificate),
          'client-key-data': base64(authority.client('eve').key),
        },
      }),
      /users\["u"\]\.user\.client-certificate-data: the private key does not match the certificate/,
    ],
    [
      'an auth provider',
      kubeconfig({ user: { 'auth-provider': { name: 'gcp' } } }),
      /auth-provider: .*gke-gcloud-auth-plugin/,
    ],
    ['an odd provider', kubeconfig({ user: { 'auth-provider': { name: '__proto__' } } }), /use an exec plugin/],
  ];
  for (const [what, content, message] of broken) {
    test(`with ${what} is refused, and the field named`, async () => {
      await assert.rejects(configOfKubeconfig(content), invalid(message));
    });
  }

  test('never has a secret in its errors', async () => {
    const secret = 'hunter2-hunter2';
    const texts = [
      `users: [{name: u, user: {token: ${secret}`,
      `${secret}: {{`,
      { 'current-context': 'x', contexts: [secret] },
      kubeconfig({ cluster: { server: `https://user:${secret}@example.com` } }),
      kubeconfig({ cluster: { server: `user:${secret}@example.com` } }),
      kubeconfig({ cluster: { server: `ftp://user:a@${secret}@example.com` } }),
      kubeconfig({ cluster: { server: `https://a ${secret}/${secret}@b` } }),
      kubeconfig({ cluster: { server: `https://example.com?token=${secret}` } }),
      kubeconfig({ cluster: { server: `https://example.com#${secret}` } }),
      kubeconfig({ cluster: { 'proxy-url': `ftp://user:${secret}@example.com` } }),
    ];
    for (const text of texts) {
      await assert.rejects(configOfKubeconfig(text), (error: Error) => !error.message.includes(secret));
    }
  });
});

describe('a kubeconfig from somewhere else', () => {
  const dangerous: readonly (readonly [what: string, parts: Parts])[] = [
    ['a program', { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh' } } }],
    ['a token in a file', { user: { tokenFile: '/etc/passwd' } }],
    ['a certificate in a file', { user: { 'client-certificate': '/x', 'client-key-data': base64(pair.key) } }],
    ['a key in a file', { user: { 'client-certificate-data': base64(pair.certificate), 'client-key': '/x' } }],
    ['an authority in a file', { cluster: { 'certificate-authority': '/etc/ssl/certs/ca-certificates.crt' } }],
    ['an auth provider', { user: { 'auth-provider': { name: 'x', config: { 'cmd-path': '/bin/sh' } } } }],
  ];
  for (const [what, parts] of dangerous) {
    test(`may not have ${what}`, async () => {
      await assert.rejects(
        configOfKubeconfig(kubeconfig(parts), { source: 'Secret fleet/east' }),
        invalid(/^Secret fleet\/east: .*(are not allowed in this kubeconfig|auth providers were removed)/),
      );
    });
  }

  test('may have them when its source is trusted, relative to a folder', async (context) => {
    const folder = await testFolder(context);
    await folder.write('ca.pem', authority.certificate);
    await folder.write('token', 'from-file\n');
    const content = kubeconfig({ cluster: { 'certificate-authority': 'ca.pem' }, user: { tokenFile: 'token' } });
    const { ca, credentials } = await configOfKubeconfig(content, { baseFolder: folder.path, allowFiles: true });
    assert.equal(ca, authority.certificate);
    assert.deepEqual(await credentials!.headers(), { authorization: 'Bearer from-file' });
  });

  test('is refused unread when it is larger than any that is meant to be one', async () => {
    const large = (length: number): string => JSON.stringify(kubeconfig({ user: { token: 'x'.repeat(length) } }));
    await configOfKubeconfig(large(200 * 1024));
    await assert.rejects(
      configOfKubeconfig(large(256 * 1024), { source: 'Secret a/b' }),
      invalid(/^Secret a\/b: .*256 KiB/),
    );
  });

  test('cannot blow up: bombs of aliases, depths, names of prototypes', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let at = 0; at < 30; at++)
      bomb.push(
        `k${at}: &k${at} [${Array(9)
          .fill(at === 0 ? '*a' : `*k${at - 1}`)
          .join()}]`,
      );
    const hostile = [bomb.join('\n'), '['.repeat(100_000), `{"a":`.repeat(50_000), 'x'.repeat(5_000_000)];
    for (const text of hostile) {
      const beganMs = performance.now();
      await assert.rejects(configOfKubeconfig(text), { code: 'InvalidKubeconfig' });
      assert.ok(performance.now() - beganMs < 2_000);
    }
    const names = JSON.parse(
      `{"clusters":[{"name":"__proto__","cluster":{"server":"https://a"}}],"users":[],
        "contexts":[{"name":"constructor","context":{"cluster":"__proto__","__proto__":{"user":"x"}}}],
        "current-context":"constructor"}`,
    ) as object;
    assert.equal((await configOfKubeconfig(names)).server, 'https://a');
  });
});

describe('a kubeconfig in a file', () => {
  test('has paths that are relative to it, and data counts before files', async (context) => {
    const folder = await testFolder(context);
    await folder.write('deep/pki/ca.pem', authority.certificate);
    await folder.write('deep/pki/client.pem', pair.certificate);
    await folder.write('deep/pki/key.pem', pair.key);
    const path = await folder.write(
      'deep/config',
      kubeconfig({
        cluster: { 'certificate-authority': 'pki/ca.pem' },
        user: {
          'client-certificate': 'pki/client.pem',
          'client-key': 'absent.pem',
          'client-key-data': base64(pair.key),
        },
      }),
    );
    const { ca, credentials } = await loadKubeconfig(path);
    assert.equal(ca, authority.certificate);
    assert.deepEqual(await credentials!.clientCertificate!(), { certificate: pair.certificate, key: pair.key });
  });

  test('names itself in every error', async (context) => {
    const folder = await testFolder(context);
    const absent = `${folder.path}/absent`;
    await assert.rejects(loadKubeconfig(absent), (error: Error) => error.message.startsWith(`${absent}: ENOENT`));
    const path = await folder.write('config', kubeconfig({ cluster: { 'certificate-authority': 'absent.pem' } }));
    await assert.rejects(loadKubeconfig(path), (error: Error) =>
      error.message.startsWith(`${path}: clusters["c"].cluster.certificate-authority: ENOENT`),
    );
  });

  test('as several: the first that has a name has it whole, the first current context counts', async (context) => {
    const folder = await testFolder(context);
    const first = await folder.write('first', {
      clusters: [{ name: 'c', cluster: { server: 'https://first' } }],
      users: [{ name: 'u', user: { as: 'ada' } }],
    });
    const second = await folder.write('second', {
      ...kubeconfig({ cluster: { server: 'https://second', 'tls-server-name': 'second' }, user: { token: 'second' } }),
    });
    const { server, serverName, impersonate, credentials } = await loadKubeconfig([first, second]);
    assert.deepEqual([server, serverName, impersonate], ['https://first', undefined, { user: 'ada' }]);
    assert.equal(credentials, undefined, 'nothing of the second of that name is mixed in');
  });
});
