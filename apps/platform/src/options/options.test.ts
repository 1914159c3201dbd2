import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { flags, help, readOptions, UsageError } from './options.ts';
import type { PlatformOptions } from './options.ts';
import { readTokens } from '../compose/tokens.ts';

const read = (...args: string[]): PlatformOptions => {
  const options = readOptions(args);
  assert.ok(typeof options === 'object');
  return options;
};

test('without options everything is in .data, and served on this machine only', () => {
  assert.deepEqual(read(), {
    dataDirectory: resolve('.data'),
    host: '127.0.0.1',
    port: 6443,
    kubeconfig: resolve('.data/admin.kubeconfig'),
    store: { type: 'embedded' },
    tokenFile: undefined,
    serving: { certificateFile: undefined, keyFile: undefined, clientCaFile: undefined, pkiDirectory: undefined },
    authentication: {
      issuers: ['https://kubernetes.default.svc.cluster.local'],
      audiences: [],
      signingKeyFile: undefined,
      keyFiles: [],
      jwksUri: undefined,
      tokenSecondsMax: 0,
      extendsTokens: true,
      anonymous: undefined,
      bootstrapTokens: true,
      frontProxy: undefined,
      configFile: undefined,
      webhookFile: undefined,
    },
    authorization: [
      { type: 'Node', name: 'node' },
      { type: 'RBAC', name: 'rbac' },
    ],
    advertiseAddress: undefined,
    planePorts: { first: 7500, last: 7999 },
    kubeletAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'],
    externalUrl: undefined,
    internalUrl: undefined,
    audit: undefined,
    encryptionConfig: undefined,
    admission: { enabled: [], disabled: [] },
    hosts: [],
    outboundAllow: [],
    egressSelectorConfig: undefined,
    flow: { readOnlyMax: 400, mutatingMax: 200 },
    quarantine: { stallsMax: 10, longStallsMax: 3, durationMs: 600_000 },
    cacheBytesMax: 256 * 1024 * 1024,
    logging: { level: 'info', format: undefined },
    services: { isBare: false, makesDemo: true, hasProjects: false, aggregated: [], electsLeader: false },
    hosted: { isOn: undefined, binDirs: [], frontDoor: undefined },
    backup: { folder: resolve('.data/backups'), createsFolder: true, namespace: 'hangar-system', concurrency: 4 },
    exitsWithParent: undefined,
    isDetached: false,
  });
});

test('a folder for backups that is set is not created', () => {
  const { backup } = read('--backup-folder=/mnt/backups', '--backup-namespace=ops', '--backup-concurrency=2');
  assert.deepEqual(backup, { folder: '/mnt/backups', createsFolder: false, namespace: 'ops', concurrency: 2 });
  assert.throws(() => read('--backup-concurrency=0'), /--backup-concurrency: "0" is not a number between 1 and 100/);
  assert.throws(() => read('--backup-namespace=A/b'), /--backup-namespace: "A\/b" is not the name of a namespace/);
});

test('the ports of control planes with nodes are a range, or none', () => {
  assert.deepEqual(read('--plane-port-range', '9000-9000').planePorts, { first: 9000, last: 9000 });
  assert.deepEqual(read('--kubelet-preferred-address-types=Hostname, InternalDNS').kubeletAddressTypes, [
    'Hostname',
    'InternalDNS',
  ]);
  assert.throws(() => readOptions(['--kubelet-preferred-address-types=Name']), UsageError);
  assert.equal(read('--plane-port-range=none').planePorts, undefined);
  for (const text of ['', '7500', '7999-7500', '0-10', '7500-65536', '-1-2']) {
    assert.throws(() => readOptions([`--plane-port-range=${text}`]), UsageError, text);
  }
});

test('the egress selector is a file', () => {
  assert.equal(read('--egress-selector-config-file=egress.yaml').egressSelectorConfig, 'egress.yaml');
});

test('how many requests are under way at once is a number, and not none', () => {
  const args = ['--max-requests-inflight=800', '--max-mutating-requests-inflight', '1'];
  assert.deepEqual(read(...args).flow, { readOnlyMax: 800, mutatingMax: 1 });
  for (const text of ['0', '-1', '', '1.5', 'many']) {
    assert.throws(() => readOptions([`--max-requests-inflight=${text}`]), UsageError, text);
  }
});

test('the memory of caches is a size, and a wrong one is refused', () => {
  for (const [text, bytes] of [
    ['0', 0],
    ['4096', 4_096],
    ['16Ki', 16_384],
    ['512Mi', 512 * 1024 ** 2],
    ['2Gi', 2 * 1024 ** 3],
  ] as const) {
    assert.equal(read('--cache-memory', text).cacheBytesMax, bytes, text);
  }
  for (const text of ['', '-1', 'much', '1.5Gi', '1GB', '5 Mi', 'Mi', '999999999999999Ti']) {
    assert.throws(() => readOptions([`--cache-memory=${text}`]), UsageError, text);
  }
});

test('where tenants are reached is a server, whose name is one of this server', () => {
  const { externalUrl, hosts } = read('--external-url=https://api.example.com:8443/', '--host=a');
  assert.equal(externalUrl, 'https://api.example.com:8443');
  assert.deepEqual(hosts, ['a', 'api.example.com']);
  assert.deepEqual(read('--external-url=https://[::1]:6443').hosts, ['::1']);
  const internal = read('--internal-url=https://hangar.svc', '--external-url=https://api.example.com');
  assert.deepEqual([internal.internalUrl, internal.hosts], ['https://hangar.svc', ['api.example.com', 'hangar.svc']]);
  for (const text of ['', 'api.example.com', 'http://a', 'https://a/b', 'https://u@a', 'https://a?b']) {
    assert.throws(() => readOptions([`--external-url=${text}`]), UsageError, text);
  }
});

test('networks that may be reached are networks', () => {
  const args = ['--outbound-allow-cidr', '127.0.0.0/8', '--outbound-allow-cidr', '::1'];
  assert.deepEqual(read(...args).outboundAllow, ['127.0.0.0/8', '::1']);
  assert.throws(() => readOptions(['--outbound-allow-cidr', 'localhost']), UsageError);
});

test('admission plugins are named as in kube-apiserver, and unknown ones are told with those that there are', () => {
  const args = [
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
    '--disable-admission-plugins=Priority,PodSecurity',
  ];
  const { admission } = read(...args);
  assert.deepEqual(admission, {
    enabled: ['OwnerReferencesPermissionEnforcement'],
    disabled: ['Priority', 'PodSecurity'],
  });
  assert.throws(
    () => readOptions(['--disable-admission-plugins=PodSecurty']),
    /unknown admission plugin "PodSecurty".*PodSecurity/,
  );
  assert.throws(
    () => readOptions(['--enable-admission-plugins=Priority', '--disable-admission-plugins=Priority']),
    UsageError,
  );
});

test('addresses are a host and a port', () => {
  const cases: [text: string, host: string, port: number][] = [
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['localhost:8443', 'localhost', 8443],
    [':6443', '0.0.0.0', 6443],
    ['[::1]:6443', '::1', 6443],
    ['0.0.0.0:65535', '0.0.0.0', 65_535],
  ];
  for (const [text, host, port] of cases) {
    const found = read('--listen', text);
    assert.deepEqual([found.host, found.port], [host, port], text);
  }
  for (const text of [
    '',
    '6443',
    'localhost',
    'localhost:',
    'localhost:x',
    'localhost:65536',
    '::1:6443',
    '[::1]',
    'a:b:1',
  ]) {
    assert.throws(() => readOptions(['--listen', text]), UsageError, text);
  }
});

test('stores are embedded, in memory, or etcd with its endpoints', () => {
  assert.deepEqual(read('--store', 'memory').store, { type: 'memory' });
  assert.deepEqual(read('--store', 'etcd', '--etcd-endpoints', 'http://a:1,http://b:2').store, {
    type: 'etcd',
    endpoints: ['http://a:1', 'http://b:2'],
    tls: undefined,
    compactionIntervalMs: 300_000,
  });
  const files = ['--etcd-cafile', 'ca.crt', '--etcd-certfile', 'client.crt', '--etcd-keyfile', 'client.key'];
  const { store } = read('--store', 'etcd', '--etcd-endpoints', 'https://a:1', ...files);
  assert.deepEqual('tls' in store && store.tls, { ca: 'ca.crt', certificate: 'client.crt', key: 'client.key' });
  for (const args of [
    ['--store', 'etcd'],
    ['--store', 'etcd', '--etcd-endpoints', 'https://a:1', '--etcd-certfile', 'client.crt'],
    ['--etcd-cafile', 'ca.crt'],
    ['--store', 'etcd', '--etcd-endpoints', 'http://a:1', '--etcd-compaction-interval', '-1m'],
    ['--store', 'etcd', '--etcd-endpoints', 'http://a:1', '--etcd-compaction-interval', 'often'],
    ['--store', 'memory', '--etcd-compaction-interval', '1m'],
    ['--store', 'sqlite'],
    ['--store', 'memory', '--etcd-endpoints', 'http://a:1'],
    ['--store', '__proto__'],
  ]) {
    assert.throws(() => readOptions(args), UsageError, args.join(' '));
  }
});

test('the kubeconfig follows the data, unless it has a place of its own', () => {
  assert.equal(read('--data-dir', '/x').kubeconfig, '/x/admin.kubeconfig');
  assert.equal(read('--data-dir', '/x', '--kubeconfig', '/y/config').kubeconfig, '/y/config');
  assert.deepEqual(read('--host', 'a', '--host', '10.1.2.3').hosts, ['a', '10.1.2.3']);
});

test('help and version come before everything else, and what is unknown is refused', () => {
  assert.equal(readOptions(['--help', '--listen', 'nonsense']), 'help');
  assert.equal(readOptions(['-h']), 'help');
  assert.equal(readOptions(['--version']), 'version');
  for (const args of [['--unknown'], ['positional'], ['--listen']]) {
    assert.throws(() => readOptions(args), UsageError, args.join(' '));
  }
});

test('every option is explained, in lines that fit a terminal', () => {
  const explained = [...help.matchAll(/^  (?:-h, )?--([a-z-]+)/gm)].map(([, name]) => name);
  assert.deepEqual(explained.toSorted(), Object.keys(flags).toSorted());
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
});

test('tokens are lines of token, user, uid and groups', () => {
  const text = [
    '# a comment',
    '',
    'abc,jane,1',
    'def,joe,2,"a,b"\r',
    'ghi,"quoted ""name""",3,c',
    '  jkl,ann,,  ',
  ].join('\n');
  assert.deepEqual(readTokens(text), [
    { token: 'abc', user: 'jane', uid: '1', groups: [] },
    { token: 'def', user: 'joe', uid: '2', groups: ['a', 'b'] },
    { token: 'ghi', user: 'quoted "name"', uid: '3', groups: ['c'] },
    { token: 'jkl', user: 'ann', uid: '', groups: [] },
  ]);
  assert.deepEqual(readTokens(''), []);
});

test('lines that are none are refused without showing the token', () => {
  for (const line of ['abc', 'abc,jane', ',jane,1', 'secret-token,,1']) {
    assert.throws(
      () => readTokens(`ok,jane,1\n${line}`),
      (error: Error) =>
        error instanceof UsageError && error.message.includes('line 2') && !error.message.includes('secret'),
      line,
    );
  }
});

test('who is believed is said as for kube-apiserver', () => {
  const { authentication } = read(
    '--service-account-issuer=https://a.example.com',
    '--service-account-issuer=https://b.example.com',
    '--api-audiences=a,b',
    '--service-account-key-file=old.pub',
    '--service-account-max-token-expiration=24h',
    '--service-account-extend-token-expiration=false',
    '--anonymous-auth=false',
    '--requestheader-client-ca-file=proxies.crt',
    '--requestheader-allowed-names=front-proxy-client, aggregator',
  );
  assert.deepEqual(authentication.issuers, ['https://a.example.com', 'https://b.example.com']);
  assert.deepEqual([authentication.audiences, authentication.keyFiles], [['a', 'b'], ['old.pub']]);
  assert.deepEqual([authentication.tokenSecondsMax, authentication.extendsTokens], [86_400, false]);
  assert.equal(authentication.anonymous, false);
  assert.deepEqual(authentication.frontProxy, {
    clientCaFile: 'proxies.crt',
    allowedNames: ['front-proxy-client', 'aggregator'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  });
  for (const wrong of [
    ['--service-account-issuer='],
    ['--service-account-issuer=a', '--service-account-issuer=a'],
    ['--service-account-issuer=::'],
    ['--service-account-jwks-uri=http://a.example.com'],
    ['--service-account-max-token-expiration=59m'],
    ['--service-account-max-token-expiration=long'],
    ['--anonymous-auth=maybe'],
    ['--requestheader-allowed-names=a'],
    // A list with an empty name would let every certificate in.
    ['--requestheader-client-ca-file=f', '--requestheader-allowed-names='],
  ]) {
    assert.throws(() => readOptions(wrong), UsageError, wrong.join(' '));
  }
});

test('authorization is by nodes and roles, unless it is said otherwise', () => {
  const { authorization } = read('--authorization-mode', 'RBAC,AlwaysDeny');
  assert.deepEqual(authorization, [
    { type: 'RBAC', name: 'rbac' },
    { type: 'AlwaysDeny', name: 'alwaysdeny' },
  ]);
  assert.deepEqual(read('--authorization-config', '/etc/a.yaml').authorization, {
    file: '/etc/a.yaml',
  });
  const webhook = ['--authorization-mode', 'Webhook', '--authorization-webhook-config-file', '/etc/hook'];
  const [hook] = read(...webhook, '--authorization-webhook-cache-authorized-ttl', '1m').authorization as readonly {
    webhook?: object;
  }[];
  assert.deepEqual(hook!.webhook, {
    authorizedMs: 60_000,
    unauthorizedMs: 30_000,
    timeoutMs: 30_000,
    version: 'v1beta1',
    failurePolicy: 'NoOpinion',
    kubeconfigFile: '/etc/hook',
    matchConditions: [],
  });
  const refused: string[][] = [
    ['--authorization-mode', 'rbac'],
    ['--authorization-mode', 'RBAC,RBAC'],
    ['--authorization-mode', 'ABAC'],
    ['--authorization-mode', 'Webhook'],
    ['--authorization-webhook-version', 'v1'],
    [...webhook, '--authorization-webhook-version', 'v2'],
    [...webhook, '--authorization-webhook-cache-authorized-ttl', 'soon'],
    ['--authorization-config', 'x', '--authorization-mode', 'RBAC'],
  ];
  for (const args of refused) assert.throws(() => read(...args), UsageError, args.join(' '));
});
