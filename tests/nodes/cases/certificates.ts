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

export function rotationCases(cluster: ClusterOf): void {
  test('a kubelet replaces its client certificate before it expires', async () => {
    const { kubectl, nodes, plane } = cluster();
    const [, node] = nodes;
    await node.killKubelet();
    const user = `system:node:${node.name}`;
    // Issued 23 hours ago for 24 hours: kubelets replace a certificate after 70 to 90 percent of its life.
    const clock = { ...systemClock, now: () => Date.now() - (dayMs * 23) / 24 };
    const request = { commonName: user, organizations: ['system:nodes'], usage: 'client', days: 1 } as const;
    const old = issueCertificate(plane.authority, request, { clock, random: systemRandom });
    await node.writeFile(clientCertificate, old.certificate + old.key);
    await node.startKubelet(plane.join);
    const current = await until(`${node.name} has a new client certificate`, {}, async () => {
      const certificate = new X509Certificate(await node.readFile(clientCertificate));
      return certificate.fingerprint256 !== new X509Certificate(old.certificate).fingerprint256 && certificate;
    });
    assert.equal(current.subject.split('\n').sort().join(), `CN=${user},O=system:nodes`);
    assert.ok(current.verify(new X509Certificate(plane.authority.certificate).publicKey));
    const requesters = await kubectl.value(
      '{.items[?(@.spec.signerName=="kubernetes.io/kube-apiserver-client-kubelet")].spec.username}',
      'certificatesigningrequests',
    );
    assert.ok(requesters.split(' ').includes(user), requesters);
    await kubectl.wait('condition=Ready', `node/${node.name}`);
  });
}
