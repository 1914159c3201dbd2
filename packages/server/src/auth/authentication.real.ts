/** Compares tokens, reviews and impersonation with a real kube-apiserver, including denials and their messages. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import type { Step } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';
import type { InProcessServer } from '../testing/in-process.ts';
import { RbacAuthorizer } from './authorization/rbac/rbac-authorizer.ts';
import { privilegedGroup } from './authorize.ts';
import { signingKeyOf, verificationKeysOf } from './service-accounts/keys.ts';

const users = [{ token: 'janes-token', user: 'jane', uid: 'jane', groups: ['dev'] }];
const patienceMs = 30_000;

let real: RealServer;
let hangar: InProcessServer;

before(async () => {
  real = await startRealServer(['--authorization-mode=RBAC', '--enable-bootstrap-token-auth=true'], users);
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  hangar = await startInProcess({
    tokens: users,
    authorizers: (plane) => [privilegedGroup, new RbacAuthorizer(plane.policy)],
    serviceAccounts: { signingKey: signingKeyOf(pem), verificationKeys: verificationKeysOf(pem) },
  });
});
after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

const core = '/api/v1/namespaces/default';
const accounts = `${core}/serviceaccounts`;
const authentication = '/apis/authentication.k8s.io/v1';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

const post = (path: string, body: unknown, rest: Partial<Step> = {}): Step => ({ method: 'POST', path, body, ...rest });
const token = (spec: object, rest: Partial<Step> = {}, metadata?: object): Step =>
  post(`${accounts}/robot/token`, { spec, ...(metadata ? { metadata } : {}) }, { ignore: ['status.token'], ...rest });
const reviewed = (spec: object, rest: Partial<Step> = {}): Step =>
  post(`${authentication}/tokenreviews`, { spec }, rest);
const self = (rest: Partial<Step>): Step => post(`${authentication}/selfsubjectreviews`, {}, rest);
const bound = (kind: string, name: string, rest: object = {}) => ({
  boundObjectRef: { kind, apiVersion: 'v1', name, ...rest },
});
const object = (kind: string, name: string, rest: object = {}) => ({
  kind,
  apiVersion: 'v1',
  metadata: { name },
  ...rest,
});

async function same(steps: readonly Step[]): Promise<void> {
  assert.deepEqual(await compareServers(real, hangar, steps), []);
}

/** The caches of the real server lag behind its storage. */
async function untilKnown(bearer: string, headers: Record<string, string> = {}): Promise<void> {
  const deadline = Date.now() + patienceMs;
  const asked = { token: bearer, headers, body: '{}' };
  while ((await real.request('POST', `${authentication}/selfsubjectreviews`, asked)).status !== 201) {
    assert.ok(Date.now() < deadline, `${bearer} is never known`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const issuer = 'https://kubernetes.default.svc';
const forged = (head: object, claims: object): string => `${encoded(head)}.${encoded(claims)}.c2lnbmF0dXJl`;

test('tokens are issued, or refused, alike', async () => {
  await same([
    post(accounts, object('ServiceAccount', 'robot'), { keep: { account: 'metadata.uid' } }),
    post(accounts, object('ServiceAccount', 'other')),
    post('/api/v1/nodes', object('Node', 'n1'), { codeOnly: true }),
    post(`${core}/secrets`, object('Secret', 's'), { keep: { secret: 'metadata.uid' } }),
    ...['robot', 'other'].map((name) =>
      post(
        `${core}/pods`,
        object('Pod', name, {
          spec: {
            serviceAccountName: name,
            automountServiceAccountToken: false,
            nodeName: name === 'robot' ? 'n1' : 'absent',
            containers: [{ name: 'c', image: 'i' }],
          },
        }),
        { codeOnly: true },
      ),
    ),
    token({}),
    token({ audiences: ['a', 'b'], expirationSeconds: 1_000 }),
    token({}, {}, { name: 'robot', namespace: 'default', uid: '{{account}}', labels: { a: 'b' } }),
    token({}, {}, { name: 'other' }),
    token({}, {}, { namespace: 'other' }),
    token({}, {}, { uid: 'other' }),
    token({ expirationSeconds: 599 }),
    token({ expirationSeconds: -1 }),
    token({ expirationSeconds: 2 ** 32 + 1 }),
    token({ expirationSeconds: 2 ** 32 }),
    token({ expirationSeconds: 'long' }),
    token({ audiences: 'a' }),
    token({ unknown: 1 }),
    token(bound('Pod', 'robot')),
    token({ ...bound('Pod', 'robot'), expirationSeconds: 3_607 }),
    token(bound('Pod', 'other')),
    token(bound('Pod', 'absent')),
    token(bound('Pod', 'robot', { uid: 'another' })),
    token(bound('Secret', 's', { uid: '{{secret}}' })),
    token(bound('Secret', 's', { uid: 'another' })),
    token(bound('Secret', 'absent')),
    token(bound('Node', 'n1')),
    token(bound('Node', 'absent')),
    token(bound('ConfigMap', 's')),
    token({ boundObjectRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'd' } }),
    token({ boundObjectRef: {} }),
    post(`${accounts}/absent/token`, {}),
    post(`${accounts}/robot/token`, { kind: 'Pod', apiVersion: 'v1' }),
    post(`${accounts}/robot/token?dryRun=All`, {}, { ignore: ['status.token'] }),
    { method: 'GET', path: `${accounts}/robot/token` },
    token({}, { token: 'janes-token' }),
  ]);
});

test('tokens prove the same', async () => {
  const keep = { mine: 'status.token' };
  const credential = ['status.user.extra.authentication.kubernetes.io/credential-id.0'];
  await same([
    token({}, { keep }),
    self({ token: '{{mine}}' }),
    reviewed({ token: '{{mine}}' }, { ignore: ['spec.token', ...credential] }),
    reviewed({ token: '{{mine}}', audiences: ['other', issuer] }, { ignore: ['spec.token'] }),
    reviewed({ token: '{{mine}}', audiences: ['other'] }, { ignore: ['spec.token'] }),
    { method: 'GET', path: `${core}/configmaps`, token: '{{mine}}' },
    token(bound('Pod', 'robot'), { keep }),
    self({ token: '{{mine}}' }),
    token(bound('Pod', 'other'), { keep: { others: 'message' } }),
    post(`${accounts}/other/token`, { spec: bound('Pod', 'other') }, { keep, ignore: ['status.token'] }),
    self({ token: '{{mine}}' }),
    token(bound('Secret', 's'), { keep }),
    self({ token: '{{mine}}' }),
    token(bound('Node', 'n1'), { keep }),
    self({ token: '{{mine}}' }),
    token({ audiences: ['vault', 'b'] }, { keep }),
    { method: 'GET', path: `${core}/configmaps`, token: '{{mine}}' },
    reviewed({ token: '{{mine}}' }, { ignore: ['spec.token'] }),
    reviewed({ token: '{{mine}}', audiences: ['b', 'vault'] }, { ignore: ['spec.token'] }),
    reviewed({ token: 'janes-token' }),
    reviewed({ token: 'janes-token', audiences: ['other'] }),
    reviewed({ token: 'unknown' }),
  ]);
});

test('forged tokens are refused with the same words', async () => {
  const claims = { iss: issuer, aud: [issuer], sub: 'system:serviceaccount:default:robot', exp: 9_999_999_999 };
  const heads = [
    { alg: 'none' },
    { alg: 'HS256' },
    { alg: 'RS256' },
    { alg: 'ES256' },
    { alg: 'RS256', kid: 'unknown' },
  ];
  await same([
    ...heads.map((head) => reviewed({ token: forged(head, claims) })),
    reviewed({ token: forged({ alg: 'RS256' }, { ...claims, iss: 'https://evil.example.com' }) }),
    reviewed({ token: forged({ alg: 'RS256' }, { ...claims, iss: 'kubernetes/serviceaccount' }) }),
    reviewed({ token: 'a.b.c' }),
    ...heads.map((head) => ({ method: 'GET', path: '/api', token: forged(head, claims) })),
  ]);
});

test('bootstrap tokens are read alike', async () => {
  const secret = (id: string, stringData: object): Step =>
    post(
      '/api/v1/namespaces/kube-system/secrets',
      object('Secret', `bootstrap-token-${id}`, {
        type: 'bootstrap.kubernetes.io/token',
        stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', ...stringData },
      }),
      { codeOnly: true },
    );
  const usage = { 'usage-bootstrap-authentication': 'true' };
  const tokenOf = (id: string) => `${id}.0123456789abcdef`;
  const cases: Readonly<Record<string, object>> = {
    aaaaaa: usage,
    bbbbbb: { ...usage, 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a' },
    cccccc: { ...usage, 'auth-extra-groups': 'system:masters' },
    dddddd: { 'usage-bootstrap-authentication': 'yes' },
    eeeeee: { ...usage, expiration: '2001-01-01T00:00:00Z' },
    ffffff: { ...usage, expiration: 'later' },
    gggggg: { ...usage, expiration: '2999-01-01T00:00:00Z' },
    hhhhhh: { ...usage, expiration: '2999-01-01T00:00:00+02:00' },
  };
  await same(Object.entries(cases).map(([id, data]) => secret(id, data)));
  const ids = Object.keys(cases);
  await untilKnown(tokenOf('gggggg'));
  await same(ids.flatMap((id) => [self({ token: tokenOf(id) }), reviewed({ token: tokenOf(id) })]));
});

test('impersonation is allowed and refused alike', async () => {
  const as = (headers: Record<string, string | string[]>, rest: Partial<Step> = {}): Step => self({ headers, ...rest });
  const list = (headers: Record<string, string | string[]>): Step => ({
    method: 'GET',
    path: `${core}/configmaps?labelSelector=absent`,
    headers,
    token: 'janes-token',
  });
  const rights = [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['joe'] },
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['ops'] },
    {
      apiGroups: ['authentication.k8s.io'],
      resources: ['userextras/scopes'],
      verbs: ['impersonate'],
      resourceNames: ['view'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['uids'], verbs: ['impersonate'], resourceNames: ['7'] },
    {
      apiGroups: ['authentication.k8s.io'],
      resources: ['users'],
      verbs: ['impersonate:user-info'],
      resourceNames: ['jim'],
    },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['impersonate-on:user-info:list'] },
  ];
  await same([
    as({ 'Impersonate-User': 'joe' }),
    as({ 'Impersonate-User': 'joe', 'Impersonate-Group': ['a', 'b, c'], 'Impersonate-Uid': '7' }),
    as({ 'Impersonate-User': 'joe', 'Impersonate-Group': 'system:unauthenticated' }),
    as({ 'Impersonate-User': 'system:anonymous' }),
    as({ 'Impersonate-User': 'system:node:n1' }),
    as({ 'Impersonate-User': 'system:serviceaccount:ns:robot' }),
    as({ 'Impersonate-User': 'system:serviceaccount:NS:robot' }),
    as({ 'Impersonate-Group': 'g' }),
    as({ 'Impersonate-Uid': '7' }),
    as({ 'Impersonate-Extra-A': 'b', 'Impersonate-Group': ['x', 'y'] }),
    // From here on kube-apiserver first tries the broad permission, which these need.
    as({ 'Impersonate-User': 'joe', 'Impersonate-Extra-Scopes': ['view', 'edit'], 'Impersonate-Extra-A%2fB%zz': 'c' }),
    as({ 'Impersonate-User': 'system:node:n1', 'Impersonate-Group': 'g' }),
    as({ 'Impersonate-User': 'system:serviceaccount:ns:robot', 'Impersonate-Group': 'g' }),
    list({ 'Impersonate-User': 'joe' }),
    { ...list({ 'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters' }), path: '/apis' },
    list({ 'Impersonate-User': 'system:serviceaccount:kube-system:admin' }),
    list({ 'Impersonate-User': 'system:node:n1' }),
    post(`${rbac}/clusterroles`, { metadata: { name: 'jane' }, rules: rights }, { codeOnly: true }),
    post(
      `${rbac}/clusterrolebindings`,
      {
        metadata: { name: 'jane' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'jane' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
      },
      { codeOnly: true },
    ),
  ]);
  await untilKnown('janes-token', { 'Impersonate-User': 'joe' });
  const jane = { token: 'janes-token' };
  await same([
    as({ 'Impersonate-User': 'joe', 'Impersonate-Group': 'ops', 'Impersonate-Uid': '7' }, jane),
    as({ 'Impersonate-User': 'joe', 'Impersonate-Extra-Scopes': 'view' }, jane),
    list({ 'Impersonate-User': 'jim' }),
  ]);
  // kube-apiserver reports the error of the mode that last succeeded; this server reports that of the first mode.
  for (const headers of [
    { 'Impersonate-User': 'joe', 'Impersonate-Group': ['ops', 'admins'] },
    { 'Impersonate-User': 'joe', 'Impersonate-Extra-Scopes': ['view', 'edit'] },
    { 'Impersonate-User': 'joe', 'Impersonate-Uid': '8' },
    { 'Impersonate-User': 'jack' },
    { 'Impersonate-User': 'jim', 'Impersonate-Group': 'system:masters' },
  ]) {
    await same([{ ...list(headers), codeOnly: true }]);
  }
});

test('the documents of the issuer are the same', async () => {
  const kept = ['keys.0.kid', 'keys.0.n'];
  await same([
    { method: 'GET', path: '/.well-known/openid-configuration', ignore: ['jwks_uri'] },
    { method: 'GET', path: '/openid/v1/jwks', accept: '*/*', ignore: kept },
    { method: 'GET', path: '/openid/v1/jwks' },
    { method: 'GET', path: '/openid/v1/jwks', token: 'janes-token' },
    { method: 'GET', path: '/openid/v1/jwks/x' },
  ]);
});

test('a token ends with its account, and with the same words', async () => {
  const keep = { mine: 'status.token' };
  const mine = new Map<object, string>();
  await same([token({}, { keep })]);
  for (const server of [real, hangar]) {
    const answer = await server.request('POST', `${accounts}/robot/token`, { body: '{}' });
    mine.set(server, JSON.parse(answer.body.toString()).status.token as string);
    await server.request('DELETE', `${accounts}/robot`);
  }
  const errorOf = async (server: RealServer | InProcessServer): Promise<string> => {
    const body = JSON.stringify({ spec: { token: mine.get(server) } });
    const answer = await server.request('POST', `${authentication}/tokenreviews`, { body });
    return (JSON.parse(answer.body.toString()).status.error as string | undefined) ?? '';
  };
  const deadline = Date.now() + patienceMs;
  for (const server of [real, hangar]) {
    while ((await errorOf(server)) === '') {
      assert.ok(Date.now() < deadline, 'the token does not end');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  assert.equal(await errorOf(hangar), await errorOf(real));
});
