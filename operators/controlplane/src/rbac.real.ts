/** The same on a real kube-apiserver, which also requires the permission to block the deletion of owners. */

import { startRealServer } from '@hangar/api/testing';
import { connect, httpTransport } from '@hangar/client';
import { operatorUser, rightsSuite } from './testing/rights-suite.ts';

const credentialsOf = (token: string) => ({ headers: () => ({ authorization: `Bearer ${token}` }) });

rightsSuite('a real kube-apiserver', async () => {
  await using opened = new AsyncDisposableStack();
  const real = opened.use(
    await startRealServer(
      ['--authorization-mode=RBAC', '--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
      [
        { token: 'of-the-administrator', user: 'test', groups: ['system:masters'] },
        { token: 'of-the-operator', user: operatorUser, groups: [] },
      ],
    ),
  );
  const reached = { server: real.url, isInsecure: true };
  const client = connect({ ...reached, credentials: credentialsOf('of-the-administrator') });
  opened.defer(() => client.close());
  const transport = httpTransport({ ...reached, credentials: credentialsOf('of-the-operator') });
  opened.defer(() => transport.close());
  const closing = opened.move();
  return { client, transport, [Symbol.asyncDispose]: () => closing.disposeAsync() };
});
