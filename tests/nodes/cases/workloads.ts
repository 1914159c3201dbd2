/** Cases: pods of a Deployment, their Service through kube-proxy, and DNS. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterOf } from '../testing/cluster.ts';
import type { Kubectl } from '../testing/kubectl.ts';
import { pod, webDeployment, webService } from '../testing/objects.ts';

export function workloadCases(cluster: ClusterOf): void {
  test('both nodes join with a bootstrap token and become ready', async () => {
    const { kubectl } = cluster();
    await kubectl.wait('create', 'node/node-a', 'node/node-b');
    await kubectl.wait('condition=Ready', 'node/node-a', 'node/node-b');
  });

  test('the pods of a Deployment run on both nodes', async () => {
    const { kubectl } = cluster();
    await kubectl.wait('create', 'serviceaccount/default');
    await kubectl.apply(webDeployment('web', 4), webService('web'));
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=110s');
    assert.deepEqual(await nodesOf(kubectl, 'web'), new Set(['node-a', 'node-b']));
  });

  test('a Service leads to all of its pods from both nodes', async () => {
    const { kubectl, nodes } = cluster();
    const address = await kubectl.value('{.spec.clusterIP}', 'service/web');
    const names = (await kubectl.value('{.items[*].metadata.name}', 'pods', '--selector=app=web')).split(' ');
    // Requests fail until kube-proxy has written the rules of the Service, and it can write those of the last pod later than the others.
    const ask = `until timeout 5 wget -q -O - http://${address}/hostname; do sleep 0.2; done; echo`;
    const isComplete = `[ "$(sort -u /tmp/answers | wc -l)" -ge ${names.length} ]`;
    const script = `: > /tmp/answers; until ${isComplete}; do (${ask}) >> /tmp/answers; done; cat /tmp/answers`;
    for (const { name } of nodes) {
      const answers = await outputOfPod(kubectl, `client-on-${name}`, script, name);
      assert.deepEqual(new Set(answers.trim().split('\n')), new Set(names), name);
    }
  });
}

export function dnsCases(cluster: ClusterOf): void {
  test('CoreDNS, which reads the API from its pod, resolves the names of Services', async () => {
    const { kubectl } = cluster();
    await kubectl.run('rollout', 'status', 'deployment/coredns', '--namespace=kube-system', '--timeout=110s');
    const script =
      'until timeout 5 wget -q -O - http://web.default.svc.cluster.local/hostname; do sleep 0.2; done; echo; nslookup web';
    const output = await outputOfPod(kubectl, 'resolver', script);
    assert.match(output, /^web-/m);
    assert.ok(output.includes(await kubectl.value('{.spec.clusterIP}', 'service/web')), output);
  });
}

/** Runs a script in a pod until it ends; returns its output. Without pods/log, the output is the container's termination message. */
async function outputOfPod(kubectl: Kubectl, name: string, script: string, nodeName?: string): Promise<string> {
  const command = ['sh', '-c', `(${script}) > /tmp/output; sort -u /tmp/output > /dev/termination-log`];
  await kubectl.apply(pod(name, { command, ...(nodeName !== undefined && { nodeName }) }));
  await kubectl.wait('jsonpath={.status.phase}=Succeeded', `pod/${name}`);
  return kubectl.value('{.status.containerStatuses[0].state.terminated.message}', `pod/${name}`);
}

/** Returns the nodes of the pods of a Deployment. */
export async function nodesOf(kubectl: Kubectl, deployment: string): Promise<Set<string>> {
  const selector = `--selector=app=${deployment}`;
  return new Set((await kubectl.value('{.items[*].spec.nodeName}', 'pods', selector)).split(' '));
}
