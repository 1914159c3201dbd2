/**
 * Audit: the policy as a file, and a webhook. kube-apiserver sends events to one server, so several targets need a proxy in the pod that
 * sends each request to all of them.
 */

import { Secret } from '@hangar/client/kinds/core-v1';
import type { Container } from '@hangar/client/kinds/core-v1';
import type { AuditWebhookTarget } from '../../api/index.ts';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { auditName } from '../names.ts';
import type { Plane } from '../plane.ts';
import { auditProxy, folders } from './defaults.ts';
import { argumentsOf, containerSecurity, imageOf, metadataOf, mountOf } from './workload.ts';

const policyFile = 'policy.yaml';
const webhookFile = 'webhook.conf';
const proxyFile = 'nginx.conf';
/** Only processes of the pod can connect. */
const proxyAddress = '127.0.0.1:8090';

const auditOf = ({ spec }: Plane) => spec.deployment?.apiServer?.audit;
const needsProxy = (targets: readonly AuditWebhookTarget[]): boolean => targets.length > 1;

export function auditArguments(plane: Plane): Record<string, string> {
  const audit = auditOf(plane);
  if (!audit) return {};
  const policy = { 'audit-policy-file': `${folders.audit}/${policyFile}` };
  if (!audit.webhook) return { ...policy, 'audit-log-path': '-' };
  return {
    ...policy,
    'audit-webhook-config-file': `${folders.audit}/${webhookFile}`,
    'audit-webhook-mode': audit.mode ?? 'batch',
  };
}

/** JSON is YAML. */
export function audit(plane: Plane, tokens: readonly (string | undefined)[]): Rendered[] {
  const wanted = auditOf(plane);
  if (!wanted) return [];
  const targets = wanted.webhook?.targets ?? [];
  const files = {
    [policyFile]: json({ ...wanted.policy, apiVersion: 'audit.k8s.io/v1', kind: 'Policy' }),
    ...(targets.length > 0 ? { [webhookFile]: json(webhookConfig(targets, tokens)) } : {}),
    ...(needsProxy(targets) ? { [proxyFile]: proxyConfig(targets, tokens) } : {}),
  };
  const data = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
  return [rendered(Secret, { metadata: metadataOf(plane, auditName(plane), 'kube-apiserver'), type: 'Opaque', data })];
}

function webhookConfig(targets: readonly AuditWebhookTarget[], tokens: readonly (string | undefined)[]): object {
  const viaProxy = needsProxy(targets);
  const server = viaProxy ? `http://${proxyAddress}/` : targets[0]!.server;
  const token = viaProxy ? undefined : tokens[0];
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'audit', cluster: { server } }],
    users: [{ name: 'audit', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'audit', context: { cluster: 'audit', user: 'audit' } }],
    'current-context': 'audit',
  };
}

/** The API server waits for the first target; the others get a copy of each request. */
function proxyConfig(targets: readonly AuditWebhookTarget[], tokens: readonly (string | undefined)[]): string {
  const location = ({ server }: AuditWebhookTarget, at: number): string => {
    const token = tokens[at];
    return [
      at === 0 ? '    location / {' : `    location = /mirror-${at} {\n      internal;`,
      ...(at === 0 ? targets.slice(1).map((_, other) => `      mirror /mirror-${other + 1};`) : []),
      ...(token === undefined
        ? []
        : [`      proxy_set_header Authorization "Bearer ${token.replaceAll(/["\\\r\n]/g, '')}";`]),
      '      proxy_ssl_server_name on;',
      `      proxy_pass ${server};`,
      '    }',
    ].join('\n');
  };
  return [
    'worker_processes 1;',
    'error_log /dev/stderr;',
    'pid /tmp/nginx.pid;',
    'events {}',
    'http {',
    '  access_log off;',
    '  client_max_body_size 0;',
    '  client_body_temp_path /tmp/body;',
    '  proxy_temp_path /tmp/proxy;',
    '  fastcgi_temp_path /tmp/fastcgi;',
    '  uwsgi_temp_path /tmp/uwsgi;',
    '  scgi_temp_path /tmp/scgi;',
    '  server {',
    `    listen ${proxyAddress};`,
    targets.map(location).join('\n'),
    '  }',
    '}',
    '',
  ].join('\n');
}

/** A sidecar: it starts before the API server and ends after it. */
export function auditProxyContainers(plane: Plane): Container[] {
  const { webhook } = auditOf(plane) ?? {};
  if (!webhook || !needsProxy(webhook.targets)) return [];
  const { image, imagePullPolicy = 'IfNotPresent', args } = webhook;
  const { resources = { requests: { cpu: '10m', memory: '16Mi' } } } = webhook;
  return [
    {
      name: 'audit-proxy',
      image: imageOf(image, auditProxy),
      imagePullPolicy,
      restartPolicy: 'Always',
      command: ['nginx', '-c', `${folders.audit}/${proxyFile}`, '-g', 'daemon off;'],
      ...(args ? { args: argumentsOf(args) } : {}),
      resources: resources as NonNullable<Container['resources']>,
      volumeMounts: [mountOf('audit', folders.audit), { name: 'tmp', mountPath: '/tmp' }],
      securityContext: containerSecurity,
    },
  ];
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;
