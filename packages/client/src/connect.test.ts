import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serviceAccount, startTestCluster } from '@hangar/testkit';
import { configOfKubeconfig } from './config/kubeconfig.ts';
import { connect } from './connect.ts';
import { defineKind } from './kind.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const Review = defineKind({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  isNamespaced: false,
});

describe('a connected client', () => {
  test('is who its kubeconfig says, and may act as somebody else', async () => {
    await using cluster = await startTestCluster({ listen: true, authorization: 'rbac' });
    const config = await configOfKubeconfig(cluster.kubeconfig);
    await using opened = new AsyncDisposableStack();
    const open = (...args: Parameters<typeof connect>) => {
      const client = connect(...args);
      opened.defer(() => client.close());
      return client;
    };
    const whoIs = async (client: ReturnType<typeof connect>) => {
      const { status } = await client.create(Review, { metadata: {} });
      return (status as { userInfo: { username: string; groups: string[]; extra?: object } }).userInfo;
    };
    assert.equal((await whoIs(open(config))).username, 'administrator');
    const impersonate = { user: 'ada', groups: ['a', 'b'], extra: { 'example.com/reason': ['x', 'y'] } };
    const ada = await whoIs(open({ ...config, impersonate }));
    assert.deepEqual([ada.username, ada.groups.slice(0, 2)], ['ada', ['a', 'b']]);
    assert.deepEqual(ada.extra, { 'example.com/reason': ['x', 'y'] });
    const account = open(cluster.configOf(serviceAccount('default', 'robot')));
    assert.equal((await whoIs(account)).username, 'system:serviceaccount:default:robot');
    await assert.rejects(account.list(ConfigMap), { code: 'Forbidden' });
  });

  test('says what is wrong with a cluster that is not there', async () => {
    const client = connect({ server: 'https://127.0.0.1:1' }, { retry: false });
    await assert.rejects(client.list(ConfigMap), { code: 'ConnectionFailed', message: /127\.0\.0\.1:1/ });
    await client.close();
  });

  test('does not trust a server of another authority, unless it is told to', async () => {
    await using cluster = await startTestCluster({ listen: true });
    const { server, credentials } = cluster.config;
    const wary = connect({ server, credentials }, { retry: false });
    await assert.rejects(wary.list(ConfigMap), { code: 'ConnectionFailed', message: /certificate/ });
    const trusting = connect({ server, credentials, isInsecure: true });
    assert.ok((await trusting.list(ConfigMap)).items.length >= 0);
    await Promise.all([wary.close(), trusting.close()]);
  });
});
