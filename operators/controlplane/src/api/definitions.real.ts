/** The same objects, good and bad, on the real kube-apiserver and on Hangar: what is taken, and every word of why not, is the same. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { startTestCluster } from '@hangar/testkit';
import { installDefinitions } from './install.ts';
import { answersTo } from './testing/answers.ts';
import { cases } from './testing/cases.ts';

const token = 'of-the-test';
const opened = new AsyncDisposableStack();
let [real, hangar]: Client[] = [];

before(async () => {
  const server = opened.use(await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]));
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  real = connect({ server: server.url, isInsecure: true, credentials });
  opened.defer(() => real!.close());
  hangar = opened.use(await startTestCluster()).client;
  await Promise.all([installDefinitions(real), installDefinitions(hangar)]);
});
after(() => opened.disposeAsync());

describe('both servers answer the same', () => {
  for (const one of cases) {
    test(`${one.kind.kind}: ${one.title}`, async () => {
      const [theirs, ours] = await Promise.all([answersTo(real!, one), answersTo(hangar!, one)]);
      assert.deepEqual(ours, theirs);
      for (const [at, { refused }] of one.steps.entries()) {
        assert.equal(theirs[at]!.code >= 400, refused !== undefined, `step ${at}: ${JSON.stringify(theirs[at]!.body)}`);
      }
    });
  }
});
