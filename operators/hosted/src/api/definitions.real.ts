/** The same objects on the real kube-apiserver and on Hangar: both accept the same objects, with the same defaults and messages. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { installCrd, startTestCluster } from '@hangar/testkit';
import { definitions } from './generated/index.ts';
import { cases } from './testing/cases.ts';
import { runCase } from './testing/run-case.ts';

const token = 'of-the-test';
const opened = new AsyncDisposableStack();
let [real, hangar]: Client[] = [];

before(async () => {
  const server = opened.use(await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]));
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  real = connect({ server: server.url, isInsecure: true, credentials });
  opened.defer(() => real!.close());
  hangar = opened.use(await startTestCluster()).client;
  for (const client of [real, hangar]) for (const definition of definitions) await installCrd(client, definition);
});
after(() => opened.disposeAsync());

describe('both servers respond the same', () => {
  for (const one of cases) {
    test(`${one.kind}: ${one.title}`, async () => {
      const [theirs, ours] = await Promise.all([runCase(real!, one), runCase(hangar!, one)]);
      assert.deepEqual(ours, theirs);
      for (const [at, { refused }] of one.steps.entries()) {
        assert.equal(theirs[at]!.code >= 400, refused !== undefined, `step ${at}: ${JSON.stringify(theirs[at]!.body)}`);
      }
    });
  }
});
