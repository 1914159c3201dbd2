/** Cases: the certificates of kubelets. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import { until } from '@hangar/cli/machine';
import type { ClusterOf } from '../testing/cluster.ts';

const clientCertificate = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const servingCertificate = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const dayMs = 86_400_000;

export function servingCertificateCases(cluster: ClusterOf): void {
  test('the serving certificates of the kubelets are approved and signed by the control plane', async () => {
    const { nodes, plane } = cluster();
    const authority = new X509Certificate(plane.authority.certificate);
    for (const node of nodes) {
      const certificate = await until(`${node.name} has a serving certificate`, {}, async () => {
        return new X509Certificate(await node.readFile(servingCertificate));
      });
      assert.ok(certificate.verify(authority.publicKey));
      assert.equal(certificate.checkIP(node.addresses.address), node.addresses.address);
    }
  });
}

const signers = {
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
} as const;
const files = { client: clientCertificate, serving: servingCertificate } as const;

/** `usages`: the certificates that the control plane signs. */
export function rotationCases(cluster: ClusterOf, usages: readonly (keyof typeof signers)[]): void {
  test(`a kubelet replaces its ${usages.join(' and ')} certificate before it expires`, async () => {
    const { kubectl, nodes, plane } = cluster();
    const [, node] = nodes;
    await node.killKubelet();
    const user = `system:node:${node.name}`;
    const hosts = [node.name, node.addresses.address];
    // Issued 23 hours ago for 24 hours: kubelets replace a certificate after 70 to 90 percent of its life.
    const clock = { ...systemClock, now: () => Date.now() - (dayMs * 23) / 24 };
    const old = new Map<string, string>();
    for (const one of usages) {
      const usage = one === 'client' ? { usage: 'client' as const } : { usage: 'server' as const, hosts };
      const request = { commonName: user, organizations: ['system:nodes'], days: 1, ...usage };
      const { certificate, key } = issueCertificate(plane.authority, request, { clock, random: systemRandom });
      old.set(one, new X509Certificate(certificate).fingerprint256);
      await node.writeFile(files[one], certificate + key);
    }
    await node.startKubelet(plane.join);
    for (const one of usages) {
      const current = await until(`${node.name} has a new ${one} certificate`, {}, async () => {
        const certificate = new X509Certificate(await node.readFile(files[one]));
        return certificate.fingerprint256 !== old.get(one) && certificate;
      });
      assert.equal(current.subject.split('\n').sort().join(), `CN=${user},O=system:nodes`);
      assert.ok(current.verify(new X509Certificate(plane.authority.certificate).publicKey));
      const requesters = await kubectl.value(
        `{.items[?(@.spec.signerName=="${signers[one]}")].spec.username}`,
        'certificatesigningrequests',
      );
      assert.ok(requesters.split(' ').includes(user), requesters);
    }
    await kubectl.wait('condition=Ready', `node/${node.name}`);
    if (usages.includes('serving')) {
      // The server verifies the new certificate.
      assert.equal(await kubectl.run('get', '--raw', `/api/v1/nodes/${node.name}/proxy/healthz`), 'ok');
    }
  });
}
