/** Finalizers and create-or-update against the real kube-apiserver. */

import { startRealServer } from '@hangar/api/testing';
import { connect } from '@hangar/client';
import { writesSuite } from './testing/writes-suite.ts';

const token = 'of-the-test';

writesSuite('kube-apiserver', async () => {
  const real = await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]);
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  const client = connect({ server: real.url, isInsecure: true, credentials });
  return {
    client,
    async stop() {
      await client.close();
      await real[Symbol.asyncDispose]();
    },
  };
});
