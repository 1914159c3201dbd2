import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateRequest } from '@hangar/pki/testing';
import type { Authorizer } from '../../auth/authorize.ts';
import { TestServer } from '../../testing/test-server.ts';
import { alwaysAllow } from './testing/allow.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const user = { token: 'user', user: 'alice', groups: [] };

const asked = (name: string, signerName: string, request: string): object => ({
  metadata: { name },
  spec: { signerName, request, usages: ['client auth'] },
});
const approved = {
  status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] },
};

test('no request gets a client certificate of system:masters, however the group is hidden', async () => {
  await using server = await TestServer.start({ authorizers: [alwaysAllow] });
  const signer = 'kubernetes.io/kube-apiserver-client';
  const cases: [name: string, request: string, status: number][] = [
    ['alone', certificateRequest('x', ['system:masters']), 403],
    ['among', certificateRequest('x', ['a', 'system:masters', 'b']), 403],
    ['together', certificateRequest('x', ['a', 'system:masters'], { together: true }), 403],
    ['others', certificateRequest('x', ['a', 'b']), 201],
    ['none', certificateRequest('system:masters', []), 201],
  ];
  for (const [name, request, status] of cases) {
    const body = asked(name, signer, request);
    const { data } = { data: await server.expect(status, 'POST', requests, { body }) };
    if (status === 403) {
      assert.equal(
        data.message,
        `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
      );
    }
  }
  await server.expect(201, 'POST', requests, {
    body: asked('elsewhere', 'example.com/signer', certificateRequest('x', ['system:masters'])),
  });
});

/** Allows approving and signing for one signer name. */
const forSigner =
  (name: string): Authorizer['authorize'] =>
  (who, info) =>
    who.name !== 'alice' || !info.isResource || info.resource !== 'signers' || info.name === name ? 'allow' : 'deny';

test('approving and signing need the right for the signer, or for all of its domain', async () => {
  for (const [right, status] of [
    ['example.com/signer', 200],
    ['example.com/*', 200],
    ['example.com/other', 403],
    ['*', 403],
  ] as const) {
    await using server = await TestServer.start({ tokens: [user], authorizers: [{ authorize: forSigner(right) }] });
    for (const name of ['a', 'b']) {
      await server.create(requests, asked(name, 'example.com/signer', certificateRequest('x', [])));
    }
    const sent = { body: approved, contentType: 'application/merge-patch+json', token: 'user' };
    const data = await server.expect(status, 'PATCH', `${requests}/a/approval`, sent);
    if (status === 403) {
      assert.match(data.message, /user not permitted to approve requests with signerName "example\.com\/signer"$/);
    }
    const signed = { ...sent, body: { status: { conditions: [{ type: 'Failed', status: 'True', reason: 'r' }] } } };
    await server.expect(status, 'PATCH', `${requests}/b/status`, signed);
  }
});

test('a node asks for certificates of its own name alone', async () => {
  const node = { token: 'node', user: 'system:node:n1', groups: ['system:nodes'] };
  await using server = await TestServer.start({ tokens: [node], authorizers: [alwaysAllow] });
  const ask = (name: string, commonName: string) =>
    server.request('POST', requests, {
      body: asked(
        name,
        'kubernetes.io/kube-apiserver-client-kubelet',
        certificateRequest(commonName, ['system:nodes']),
      ),
      token: 'node',
    });
  assert.equal((await ask('mine', 'system:node:n1')).status, 201);
  const refused = await ask('theirs', 'system:node:n2');
  assert.equal(refused.status, 403);
  assert.match(refused.data.message, /can only create a node CSR with CN=system:node:n1$/);
});
