import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { CertificateAuthenticator } from '@hangar/server';
import type { Handler, Peer, ServerRequest } from '@hangar/server';
import { InsideUsers } from './inside-users.ts';

/** Returns the request as the handler receives it. */
async function asked(users: InsideUsers): Promise<ServerRequest> {
  let seen: ServerRequest | undefined;
  const handler: Handler = (request) => {
    seen = request;
    return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array() });
  };
  await users.transport('operator', handler).request({ method: 'GET', target: '/' });
  return seen!;
}

test('a user of the process is one of the masters, under a name of its own', async () => {
  const users = new InsideUsers();
  const user = await users.authenticate(await asked(users));
  assert.equal(user?.name, 'system:hangar:operator');
  assert.deepEqual(user?.groups, ['system:masters', 'system:authenticated']);
});

test('nobody else can be one: not by what it shows, and not by a copy of it', async () => {
  const users = new InsideUsers();
  const request = await asked(users);
  const copies: Peer[] = [
    { ...request.peer },
    structuredClone({ address: request.peer.address, certificate: request.peer.certificate }),
    {
      address: '127.0.0.1',
      certificate: { commonName: 'system:hangar:operator', organizations: [], expiresAt: Infinity },
    },
  ];
  for (const peer of copies) assert.equal(users.authenticate({ ...request, peer }), undefined);
  assert.equal(new InsideUsers().authenticate(request), undefined);
});

test('what it shows is worth nothing to who looks at certificates', async () => {
  const request = await asked(new InsideUsers());
  assert.equal(new CertificateAuthenticator(systemClock).authenticate(request), undefined);
});
