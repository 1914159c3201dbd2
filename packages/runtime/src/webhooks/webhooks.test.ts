/** With the API server of Hangar in this process; the webhooks use real TLS. */

import { after, before } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { webhookSuite } from './testing/suite.ts';

let cluster: TestCluster;
before(async () => (cluster = await startTestCluster()));
after(() => cluster[Symbol.asyncDispose]());

webhookSuite('Hangar', async () => cluster.transportOf());
