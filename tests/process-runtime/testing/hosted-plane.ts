/** The objects of a control plane that runs as pods: etcd as a StatefulSet with claims, kube-apiserver as a Deployment. */

import { generateKeyPairSync } from 'node:crypto';
import type { Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Namespace, Secret, Service } from '@hangar/client/kinds/core-v1';
import type { PodSpec } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { runtimeLabel, runtimeValue, storageClassName } from '@hangar/process-runtime';

export const namespace = 'hosted';
const world = { clock: systemClock, random: systemRandom };

/** Pods with these fields are scheduled to the node of the runtime. */
const placement: Pick<PodSpec, 'nodeSelector' | 'tolerations'> = {
  nodeSelector: { [runtimeLabel]: runtimeValue },
  tolerations: [{ key: runtimeLabel, operator: 'Equal', value: runtimeValue, effect: 'NoSchedule' }],
};

const podIP = { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };

export interface HostedPlane {
  readonly authority: KeyPair;
  /** Of an administrator. */
  readonly administrator: KeyPair;
}

export async function createHostedPlane(client: Client, members: number): Promise<HostedPlane> {
  const authority = createAuthority('hosted', 1, world);
  const serving = issueCertificate(
    authority,
    { commonName: 'kube-apiserver', usage: 'server', hosts: [`kube-apiserver.${namespace}.svc`], days: 1 },
    world,
  );
  const administrator = issueCertificate(
    authority,
    { commonName: 'admin', organizations: ['system:masters'], usage: 'client', days: 1 },
    world,
  );
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const files = {
    'ca.crt': authority.certificate,
    'tls.crt': serving.certificate,
    'tls.key': serving.key,
    'sa.key': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'sa.pub': publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(Secret, { metadata: { namespace, name: 'pki' }, data: encoded(files) });
  await client.create(Service, {
    metadata: { namespace, name: 'etcd' },
    spec: {
      clusterIP: 'None',
      selector: { app: 'etcd' },
      publishNotReadyAddresses: true,
      ports: [{ name: 'client', port: 2379 }],
    },
  });
  await client.create(Service, {
    metadata: { namespace, name: 'kube-apiserver' },
    spec: { type: 'LoadBalancer', selector: { app: 'kube-apiserver' }, ports: [{ port: 443, targetPort: 'https' }] },
  });
  await client.create(StatefulSet, etcd(members));
  await client.create(Deployment, apiServer());
  return { authority, administrator };
}

const encoded = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));

function etcd(members: number): Omit<StatefulSet, 'apiVersion' | 'kind'> {
  const labels = { app: 'etcd' };
  const names = Array.from({ length: members }, (_, index) => `etcd-${index}`);
  const host = (name: string): string => `${name}.etcd.${namespace}.svc`;
  return {
    metadata: { namespace, name: 'etcd' },
    spec: {
      serviceName: 'etcd',
      replicas: members,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName,
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ],
      template: {
        metadata: { labels },
        spec: {
          ...placement,
          terminationGracePeriodSeconds: 10,
          containers: [
            {
              name: 'etcd',
              image: 'registry.example/etcd:3.6',
              env: [podIP, { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
              command: [
                'etcd',
                '--name=$(POD_NAME)',
                '--data-dir=/var/lib/etcd',
                '--listen-client-urls=http://0.0.0.0:2379',
                '--listen-peer-urls=http://$(POD_IP):2380',
                `--advertise-client-urls=http://$(POD_NAME).etcd.${namespace}.svc:2379`,
                `--initial-advertise-peer-urls=http://$(POD_NAME).etcd.${namespace}.svc:2380`,
                `--initial-cluster=${names.map((name) => `${name}=http://${host(name)}:2380`).join(',')}`,
                '--initial-cluster-state=new',
                '--unsafe-no-fsync',
              ],
              ports: [{ name: 'client', containerPort: 2379 }],
              volumeMounts: [{ name: 'data', mountPath: '/var/lib/etcd' }],
              readinessProbe: { httpGet: { path: '/health', port: 'client' }, periodSeconds: 1, failureThreshold: 3 },
            },
          ],
        },
      },
    },
  };
}

function apiServer(): Omit<Deployment, 'apiVersion' | 'kind'> {
  const labels = { app: 'kube-apiserver' };
  const https = { path: '/livez', port: 'https', scheme: 'HTTPS' as const };
  return {
    metadata: { namespace, name: 'kube-apiserver' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          ...placement,
          terminationGracePeriodSeconds: 20,
          volumes: [
            { name: 'pki', secret: { secretName: 'pki' } },
            { name: 'run', emptyDir: {} },
          ],
          containers: [
            {
              name: 'kube-apiserver',
              image: 'registry.example/kube-apiserver:v1.36.0',
              env: [podIP],
              args: [
                '--bind-address=$(POD_IP)',
                '--secure-port=6443',
                '--advertise-address=192.0.2.20',
                `--etcd-servers=http://etcd-0.etcd.${namespace}.svc:2379`,
                '--cert-dir=/var/run/kubernetes',
                '--client-ca-file=/etc/kubernetes/pki/ca.crt',
                '--tls-cert-file=/etc/kubernetes/pki/tls.crt',
                '--tls-private-key-file=/etc/kubernetes/pki/tls.key',
                '--service-account-issuer=https://kubernetes.default.svc',
                '--service-account-key-file=/etc/kubernetes/pki/sa.pub',
                '--service-account-signing-key-file=/etc/kubernetes/pki/sa.key',
                '--service-cluster-ip-range=10.97.0.0/16',
                '--authorization-mode=RBAC',
              ],
              ports: [{ name: 'https', containerPort: 6443 }],
              volumeMounts: [
                { name: 'pki', mountPath: '/etc/kubernetes/pki', readOnly: true },
                { name: 'run', mountPath: '/var/run/kubernetes' },
              ],
              startupProbe: { httpGet: https, periodSeconds: 1, failureThreshold: 120, timeoutSeconds: 10 },
              livenessProbe: { httpGet: https, periodSeconds: 10, failureThreshold: 8, timeoutSeconds: 15 },
              readinessProbe: {
                httpGet: { ...https, path: '/readyz' },
                periodSeconds: 1,
                failureThreshold: 3,
                timeoutSeconds: 15,
              },
            },
          ],
        },
      },
    },
  };
}
