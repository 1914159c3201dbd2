/** Flags of authorization, named as in kube-apiserver. */

import { resolve } from 'node:path';
import { parseDuration } from '@hangar/api';
import type { AuthorizationOptions, AuthorizerConfiguration } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

const text = { type: 'string' } as const;

export const authorizationFlags = {
  'authorization-mode': { type: 'string', multiple: true },
  'authorization-config': text,
  'authorization-webhook-config-file': text,
  'authorization-webhook-version': text,
  'authorization-webhook-cache-authorized-ttl': text,
  'authorization-webhook-cache-unauthorized-ttl': text,
} as const;

export const authorizationHelp: HelpGroup = {
  title: 'Authorization',
  rows: [
    [
      '--authorization-mode MODES',
      'ordered list of authorizers: Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny; group system:masters is always allowed (default: Node,RBAC)',
    ],
    ['--authorization-config FILE', 'AuthorizationConfiguration, instead of the other flags; reloaded when it changes'],
    ['--authorization-webhook-config-file FILE', 'kubeconfig of the webhook of mode Webhook'],
    [
      '--authorization-webhook-version VERSION',
      'API version of the SubjectAccessReviews: v1 or v1beta1 (default: v1beta1)',
    ],
    [
      '--authorization-webhook-cache-authorized-ttl DURATION',
      'time for which allowed responses are cached (default: 5m)',
    ],
    [
      '--authorization-webhook-cache-unauthorized-ttl DURATION',
      'time for which denied responses are cached (default: 30s)',
    ],
  ],
};

type Values = {
  readonly [Name in keyof typeof authorizationFlags]?:
    | ((typeof authorizationFlags)[Name] extends { multiple: true } ? string[] : string)
    | undefined;
};

export type AuthorizationSource = AuthorizationOptions['source'];

const modes = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;

export function authorizationSource(values: Values): AuthorizationSource {
  const { 'authorization-config': file, ...others } = values;
  const other = Object.keys(authorizationFlags).find((name) => others[name as keyof typeof others] !== undefined);
  if (file !== undefined) {
    if (other !== undefined) throw new UsageError(`--authorization-config can not be specified with --${other}`);
    return { file: resolve(file) };
  }
  const asked = values['authorization-mode']?.flatMap((one) => one.split(',')) ?? ['Node', 'RBAC'];
  for (const [at, mode] of asked.entries()) {
    if (!modes.includes(mode as never))
      throw new UsageError(`--authorization-mode: "${mode}" must be one of ${modes.join(', ')}`);
    if (asked.indexOf(mode) < at) throw new UsageError(`--authorization-mode: "${mode}" is given more than once`);
  }
  const webhookFlag = Object.keys(others).find(
    (name) => name.startsWith('authorization-webhook-') && others[name as keyof typeof others] !== undefined,
  );
  if (webhookFlag !== undefined && !asked.includes('Webhook')) {
    throw new UsageError(`--${webhookFlag} requires --authorization-mode Webhook`);
  }
  return asked.map((mode) => (mode === 'Webhook' ? webhook(values) : named(mode as (typeof modes)[number])));
}

const named = (type: (typeof modes)[number]): AuthorizerConfiguration =>
  ({ type, name: type.toLowerCase() }) as AuthorizerConfiguration;

function webhook(values: Values): AuthorizerConfiguration {
  const file = values['authorization-webhook-config-file'];
  if (file === undefined)
    throw new UsageError('--authorization-mode Webhook requires --authorization-webhook-config-file');
  const version = values['authorization-webhook-version'] ?? 'v1beta1';
  if (version !== 'v1' && version !== 'v1beta1') {
    throw new UsageError(`--authorization-webhook-version: "${version}" must be v1 or v1beta1`);
  }
  return {
    type: 'Webhook',
    name: 'default',
    webhook: {
      authorizedMs: duration(values, 'authorization-webhook-cache-authorized-ttl') ?? 300_000,
      unauthorizedMs: duration(values, 'authorization-webhook-cache-unauthorized-ttl') ?? 30_000,
      timeoutMs: 30_000,
      version,
      failurePolicy: 'NoOpinion',
      kubeconfigFile: resolve(file),
      matchConditions: [],
    },
  };
}

function duration(values: Values, name: keyof Values): number | undefined {
  const given = values[name];
  if (given === undefined) return undefined;
  try {
    return Number(parseDuration(String(given)) / 1_000_000n);
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`, { cause: error });
  }
}
