/** The kinds of cert-manager as far as these tests need them, and a double of its controller. */

import { find } from '@hangar/client';
import type { Client, KindNames } from '@hangar/client';
import type { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { Secret } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import { installCrd } from '@hangar/testkit';
import { Certificate, certificateNameAnnotation, certManagerGroup, Issuer } from '../cert-manager/kinds.ts';
import { base64, textIn } from '../pki/secrets.ts';

const world = { clock: systemClock, random: systemRandom };

const definitionOf = ({ kind, plural }: KindNames): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${certManagerGroup}` },
  spec: {
    group: certManagerGroup,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

export async function installCertManager(client: Client): Promise<void> {
  await installCrd(client, definitionOf(Issuer));
  await installCrd(client, definitionOf(Certificate));
}

/** Issues certificates with the authority of their Issuer, once for each generation. Disposing it stops it. */
export function certManagerDouble(client: Client): AsyncDisposable {
  const ending = new AbortController();
  const { signal } = ending;
  const running = (async () => {
    while (!signal.aborted) {
      const options = { signal, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const };
      for await (const event of client.watch(Certificate, options)) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED') await issue(client, event.object, signal);
      }
    }
  })().catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}

async function issue(client: Client, { metadata, spec, status }: Certificate, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '', generation = 0 } = metadata;
  if (status?.conditions?.some(({ observedGeneration }) => observedGeneration === generation)) return;
  const issuer = await client.get(Issuer, { namespace, name: spec.issuerRef.name }, { signal });
  const authority = await client.get(Secret, { namespace, name: issuer.spec.ca.secretName }, { signal });
  const pair = { certificate: textIn(authority, 'tls.crt'), key: textIn(authority, 'tls.key') };
  const hosts = [...(spec.dnsNames ?? []), ...(spec.ipAddresses ?? [])];
  const usage = spec.usages.length > 2 ? 'peer' : spec.usages[1] === 'server auth' ? 'server' : 'client';
  const request = { commonName: spec.commonName, usage, hosts, days: 1 } as const;
  const { certificate, key } = issueCertificate(pair, request, world);
  const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
  const annotations = { [certificateNameAnnotation]: name };
  const secret = { namespace, name: spec.secretName };
  const existing = await find(client, Secret, secret, { signal });
  if (existing) await client.patch(Secret, secret, { type: 'merge', body: { data } }, { signal });
  else {
    const labels = spec.secretTemplate?.labels ?? {};
    const draft = { metadata: { ...secret, labels, annotations }, type: 'kubernetes.io/tls', data };
    await client.create(Secret, draft, { signal });
  }
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', observedGeneration: generation };
  const conditions = [{ ...ready, lastTransitionTime: new Date().toISOString() }];
  await client.status.patch(Certificate, { namespace, name }, { type: 'merge', body: { status: { conditions } } });
}
