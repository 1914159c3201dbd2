/**
 * The real kube-controller-manager and kube-scheduler, unmodified and with their default protobuf, on Hangar: their work for users is done,
 * they do not log the same error repeatedly, and a crash of the server interrupts nothing for long.
 *
 * HANGAR_CONFORMANCE_QUIET_MS=300000  watches the logs for five minutes more, under load
 */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateRequest } from '@hangar/pki/testing';
import { apiOf } from './api.ts';
import type { Api, KubeObject } from './api.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { FakeNode } from './fake-node.ts';
import { daemonSet, deployment, everyMinute, job, namespace, pod, service, statefulSet } from './workloads.ts';

const quietMs = Number(process.env['HANGAR_CONFORMANCE_QUIET_MS'] ?? 5_000);
/** Optimistic writers collide and retry, which they log; more often than this they are stuck. */
const sameErrorMax = 5;

const apps = '/apis/apps/v1/namespaces/work';
const batch = '/apis/batch/v1/namespaces/work';
const core = '/api/v1/namespaces/work';
const ofApp = (name: string): string => `labelSelector=app%3D${name}`;

describe("Kubernetes' own components", () => {
  let cluster: Cluster;
  let api: Api;
  let node: FakeNode;
  before(async () => {
    cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
    api = await apiOf(cluster);
    node = await FakeNode.start(api, 'node-a');
    await api.create('/api/v1/namespaces', namespace('work'));
    // Early: the minute passes while the others are tested.
    await api.create(`${batch}/cronjobs`, everyMinute('minutely'));
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    api?.[Symbol.dispose]();
    await cluster?.stop();
  });

  const podsOf = (name: string): Promise<readonly KubeObject[]> => api.list(`${core}/pods?${ofApp(name)}`);
  const isAvailable = async (name: string, replicas: number): Promise<KubeObject | false> => {
    const found = await api.get(`${apps}/deployments/${name}`);
    const { observedGeneration, availableReplicas = 0, updatedReplicas = 0, replicas: all = 0 } = found!['status'];
    const isThere = [availableReplicas, updatedReplicas, all].every((count) => count === replicas);
    return observedGeneration === found!.metadata['generation'] && isThere && found!;
  };
  const assertNoErrorLoops = (): void => {
    for (const [name, log] of cluster.logs) assert.deepEqual(log.repeatedErrors(sameErrorMax), [], name);
  };

  test('a new namespace gets its service account and the root certificates', async () => {
    await api.eventually('the service account', () => api.get(`${core}/serviceaccounts/default`));
    const found = await api.eventually('the certificates', () => api.get(`${core}/configmaps/kube-root-ca.crt`));
    assert.equal(found['data']['ca.crt'], await readFile(join(cluster.folder, 'data/pki/ca.crt'), 'utf8'));
  });

  test('a Deployment rolls out, pods are scheduled and run, and its Service has endpoints', async () => {
    await api.create(`${core}/services`, service('web'));
    await api.create(`${apps}/deployments`, deployment('web', 3));
    await api.eventually('three available pods', () => isAvailable('web', 3));
    const pods = await podsOf('web');
    assert.deepEqual(new Set(pods.map((one) => one['spec'].nodeName)), new Set(['node-a']));
    const addresses = pods.map((one) => one['status'].podIP as string).sort();
    const slices =
      '/apis/discovery.k8s.io/v1/namespaces/work/endpointslices?labelSelector=kubernetes.io/service-name%3Dweb';
    await api.eventually('an EndpointSlice of all pods', async () => {
      const all = (await api.list(slices)).flatMap((slice) => slice['endpoints'] as { addresses: string[] }[]);
      const found = all.flatMap((endpoint) => endpoint.addresses).sort();
      return found.join() === addresses.join();
    });
    await api.eventually('Endpoints of all pods', async () => {
      const found = await api.get(`${core}/endpoints/web`);
      return found?.['subsets']?.[0]?.addresses?.length === 3;
    });
  });

  test('a new template replaces the pods, and a scale takes pods away', async () => {
    const path = `${apps}/deployments/web`;
    const change = { template: { spec: { containers: [{ name: 'main', image: 'example.com/main:2' }] } } };
    await api.patch(path, { spec: change });
    await api.eventually('three available pods of the new template', () => isAvailable('web', 3));
    await api.patch(`${path}/scale`, { spec: { replicas: 1 } });
    await api.eventually('one pod', async () => (await podsOf('web')).length === 1 && (await isAvailable('web', 1)));
    const [left] = await podsOf('web');
    assert.equal(left!['spec'].containers[0].image, 'example.com/main:2');
    assert.equal((await api.list(`${apps}/replicasets?${ofApp('web')}`)).length, 2);
  });

  test('deletion in the foreground waits for what depends, in the background follows, and orphans stay', async () => {
    for (const name of ['front', 'back', 'orphaning']) await api.create(`${apps}/deployments`, deployment(name, 1));
    for (const name of ['front', 'back', 'orphaning']) await api.eventually(name, () => isAvailable(name, 1));
    await api.remove(`${apps}/deployments/front`, { propagationPolicy: 'Foreground' });
    await api.remove(`${apps}/deployments/back`, { propagationPolicy: 'Background' });
    await api.remove(`${apps}/deployments/orphaning`, { propagationPolicy: 'Orphan' });
    await api.eventually('the foreground deletion', async () => !(await api.get(`${apps}/deployments/front`)));
    // Its dependents were deleted first.
    assert.deepEqual(await api.list(`${apps}/replicasets?${ofApp('front')}`), []);
    assert.deepEqual(await podsOf('front'), []);
    assert.equal(await api.get(`${apps}/deployments/back`), undefined);
    await api.eventually('the background deletion', async () => {
      const [sets, pods] = [await api.list(`${apps}/replicasets?${ofApp('back')}`), await podsOf('back')];
      return sets.length === 0 && pods.length === 0;
    });
    await api.eventually('the orphaning deletion', async () => !(await api.get(`${apps}/deployments/orphaning`)));
    const [set] = await api.list(`${apps}/replicasets?${ofApp('orphaning')}`);
    assert.equal(set?.metadata.ownerReferences, undefined);
    assert.equal((await podsOf('orphaning')).length, 1);
  });

  test('a StatefulSet makes its pods in order, a DaemonSet one for the node', async () => {
    await api.create(`${apps}/statefulsets`, statefulSet('db', 2));
    await api.create(`${apps}/daemonsets`, daemonSet('agent'));
    await api.eventually('two ready pods', async () => {
      const found = await api.get(`${apps}/statefulsets/db`);
      return found?.['status'].readyReplicas === 2;
    });
    const created = (await podsOf('db')).map((one) => [one.metadata.name, one.metadata['creationTimestamp']]);
    assert.deepEqual(
      created.map(([name]) => name),
      ['db-0', 'db-1'],
    );
    await api.eventually('the ready pod of the DaemonSet', async () => {
      const found = await api.get(`${apps}/daemonsets/agent`);
      return found?.['status'].numberReady === 1;
    });
  });

  test('a Job completes, and goes away when its time to live is over', async () => {
    await api.create(`${batch}/jobs`, job('import'));
    await api.create(`${batch}/jobs`, job('passing', { ttlSecondsAfterFinished: 1 }));
    const done = await api.eventually('the completion', async () => {
      const found = await api.get(`${batch}/jobs/import`);
      return found?.['status'].conditions?.some((one: { type: string }) => one.type === 'Complete') && found;
    });
    assert.equal(done['status'].succeeded, 2);
    await api.eventually('the end of the other job and its pods', async () => {
      const [left, pods] = [await api.get(`${batch}/jobs/passing`), await podsOf('passing')];
      return !left && pods.length === 0;
    });
  });

  test('a quota is counted and kept to', async () => {
    await api.create(`${core}/resourcequotas`, { metadata: { name: 'small' }, spec: { hard: { services: '2' } } });
    await api.eventually('the count', async () => {
      const found = await api.get(`${core}/resourcequotas/small`);
      return found?.['status'].used?.services === '1';
    });
    await api.create(`${core}/services`, service('second'));
    const { code, message } = await api.refusal(`${core}/services`, service('third'));
    assert.equal(code, 403);
    assert.match(message, /exceeded quota: small, requested: services=1, used: services=2, limited: services=2/);
    await api.remove(`${core}/services/second`);
    await api.eventually('the count after a deletion', async () => {
      const found = await api.get(`${core}/resourcequotas/small`);
      return found?.['status'].used.services === '1';
    });
    await api.remove(`${core}/resourcequotas/small`);
  });

  test('a disruption budget knows what may be disturbed', async () => {
    const budgets = '/apis/policy/v1/namespaces/work/poddisruptionbudgets';
    await api.create(budgets, {
      metadata: { name: 'db' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'db' } } },
    });
    await api.eventually('the budget', async () => {
      const { expectedPods, disruptionsAllowed } = (await api.get(`${budgets}/db`))?.['status'] ?? {};
      return expectedPods === 2 && disruptionsAllowed === 1;
    });
  });

  test('a volume is bound to the claim that fits it', async () => {
    const capacity = { storage: '1Gi' };
    const accessModes = ['ReadWriteOnce'];
    await api.create('/api/v1/persistentvolumes', {
      metadata: { name: 'disk' },
      spec: { capacity, accessModes, storageClassName: 'manual', hostPath: { path: '/nowhere' } },
    });
    await api.create(`${core}/persistentvolumeclaims`, {
      metadata: { name: 'data' },
      spec: { accessModes, storageClassName: 'manual', resources: { requests: capacity } },
    });
    await api.eventually('the binding', async () => {
      const found = await api.get(`${core}/persistentvolumeclaims/data`);
      return found?.['status'].phase === 'Bound' && found['spec'].volumeName === 'disk';
    });
  });

  test('a claim that a pod uses stays until the pod is gone', async () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const user = pod('user');
    await api.create(`${core}/pods`, { ...user, spec: { ...user.spec, volumes } });
    await api.eventually(
      'the running pod',
      async () => (await api.get(`${core}/pods/user`))?.['status'].phase === 'Running',
    );
    await api.remove(`${core}/persistentvolumeclaims/data`);
    const held = await api.get(`${core}/persistentvolumeclaims/data`);
    assert.deepEqual(held?.metadata['finalizers'], ['kubernetes.io/pvc-protection']);
    await api.remove(`${core}/pods/user`);
    await api.eventually('the end of the claim', async () => !(await api.get(`${core}/persistentvolumeclaims/data`)));
  });

  test('a pod of higher priority takes the place of one that fills the node', async () => {
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await api.create(classes, { metadata: { name: 'urgent' }, value: 1000 });
    const big = (name: string, more: object = {}) => {
      const resources = { requests: { cpu: '7' } };
      const { spec, metadata } = pod(name);
      return {
        metadata,
        spec: { ...spec, ...more, containers: [{ name: 'main', image: 'example.com/main:1', resources }] },
      };
    };
    await api.create(`${core}/pods`, big('filler'));
    await api.eventually(
      'the first on the node',
      async () => (await api.get(`${core}/pods/filler`))?.['spec'].nodeName,
    );
    await api.create(`${core}/pods`, big('urgent', { priorityClassName: 'urgent' }));
    await api.eventually(
      'the second on the node',
      async () => (await api.get(`${core}/pods/urgent`))?.['spec'].nodeName,
    );
    assert.equal(await api.get(`${core}/pods/filler`), undefined);
    await api.remove(`${core}/pods/urgent`);
  });

  test('a role is made of those that it aggregates', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const selector = { matchLabels: { 'example.com/part': 'true' } };
    await api.create(roles, {
      metadata: { name: 'whole' },
      aggregationRule: { clusterRoleSelectors: [selector] },
      rules: [],
    });
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    await api.create(roles, { metadata: { name: 'part', labels: selector.matchLabels }, rules });
    const found = await api.eventually('the rules', async () => {
      const whole = await api.get(`${roles}/whole`);
      return (whole?.['rules']?.length ?? 0) > 0 && whole;
    });
    assert.deepEqual(found['rules'], rules);
  });

  test("an admission policy's expressions are checked against the types that it is for", async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    await api.create(policies, {
      metadata: { name: 'mistaken' },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
          ],
        },
        validations: [{ expression: 'object.spec.replicas > "five"' }],
      },
    });
    const warnings = await api.eventually('the warning', async () => {
      const found = await api.get(`${policies}/mistaken`);
      return found?.['status']?.typeChecking?.expressionWarnings as { fieldRef: string; warning: string }[] | undefined;
    });
    assert.equal(warnings[0]!.fieldRef, 'spec.validations[0].expression');
    assert.match(warnings[0]!.warning, /apps\/v1, Kind=Deployment: ERROR/);
  });

  test('an approved certificate request is signed by the authority of this control plane', async () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const created = await api.create(path, {
      metadata: { name: 'jane' },
      spec: {
        request: certificateRequest('jane'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['digital signature', 'client auth'],
      },
    });
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'known' }];
    await api.replace(`${path}/jane/approval`, { ...created, status: { conditions } });
    const issued = await api.eventually('the certificate', async () => {
      const found = await api.get(`${path}/jane`);
      return found?.['status'].certificate as string | undefined;
    });
    const certificate = new X509Certificate(Buffer.from(issued, 'base64'));
    const authority = new X509Certificate(await readFile(cluster.installation.signing.certificate));
    assert.equal(certificate.subject, 'CN=jane');
    assert.ok(certificate.verify(authority.publicKey));
  });

  test('a namespace is emptied and goes away', async () => {
    const inside = '/api/v1/namespaces/leaving';
    await api.create('/api/v1/namespaces', namespace('leaving'));
    await api.eventually('the service account', () => api.get(`${inside}/serviceaccounts/default`));
    await api.create(`${inside}/configmaps`, { metadata: { name: 'content', finalizers: ['example.com/held'] } });
    await api.create(`${inside}/pods`, pod('alone'));
    await api.create('/apis/apps/v1/namespaces/leaving/deployments', deployment('web', 2));
    await api.remove('/api/v1/namespaces/leaving');
    await api.eventually('a condition that names what is left', async () => {
      const found = await api.get('/api/v1/namespaces/leaving');
      const left = found?.['status'].conditions?.find(
        (one: { type: string }) => one.type === 'NamespaceFinalizersRemaining',
      );
      return left?.status === 'True' && left.message.includes('example.com/held');
    });
    await api.patch(`${inside}/configmaps/content`, { metadata: { finalizers: null } });
    await api.eventually('its end', async () => !(await api.get('/api/v1/namespaces/leaving')));
  });

  test('a CronJob makes a Job when the minute is over, which completes', async () => {
    await api.eventually('a completed Job', async () => {
      const jobs = await api.list(`${batch}/jobs`);
      const made = jobs.find((one) => one.metadata.ownerReferences?.some((owner) => owner.kind === 'CronJob'));
      return made?.['status'].succeeded === 1;
    });
  });

  test('nothing is complained of again and again', async () => {
    const endMs = performance.now() + quietMs;
    for (let round = 0; performance.now() < endMs; round++) {
      await api.patch(`${apps}/deployments/web/scale`, { spec: { replicas: 1 + (round % 3) } });
      await sleep(Math.min(5_000, quietMs));
    }
    assertNoErrorLoops();
  });

  test('the server had no error of its own', () => {
    assert.deepEqual(cluster.logs.get('hangar')!.errors(), []);
  });

  test('a crash of the server interrupts, and work goes on', async () => {
    const places = new Map([...cluster.logs].map(([name, log]) => [name, log.length]));
    await cluster.restartServer();
    await api.create(`${apps}/deployments`, deployment('after', 2));
    await api.eventually('the new Deployment', () => isAvailable('after', 2));
    await api.remove(`${apps}/deployments/web`, { propagationPolicy: 'Background' });
    await api.eventually('the cascade', async () => (await podsOf('web')).length === 0);
    // Connections were refused for a moment, which every informer logs once or twice.
    const settled = new Map([...cluster.logs].map(([name, log]) => [name, log.length]));
    await sleep(quietMs);
    for (const [name, log] of cluster.logs) {
      assert.deepEqual(log.repeatedErrors(sameErrorMax, settled.get(name)!), [], name);
      assert.ok(!log.lines(places.get(name)!).some((line) => line.startsWith('panic')), name);
    }
  });
});
