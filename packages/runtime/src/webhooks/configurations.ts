/**
 * The configuration that makes an API server call a webhook server: webhook configurations for its hooks, and the conversion settings of
 * the CustomResourceDefinitions. Apply them, or let the operator `install` them.
 */

import { groupOf } from '@hangar/client';
import type { ApplyConfiguration, Client } from '@hangar/client';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@hangar/client/kinds/admissionregistration-v1';
import type {
  MutatingWebhook,
  ValidatingWebhook,
  WebhookClientConfig,
} from '@hangar/client/kinds/admissionregistration-v1';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { RuntimeError } from '../errors.ts';
import type { AdmissionHook } from './admission.ts';
import type { Conversion } from './conversion.ts';
import { versionOf } from './paths.ts';

export interface ConfigurationOptions {
  /** Name of the webhook configurations. */
  readonly name: string;
  /**
   * Certificate authority of the webhook server, in PEM. Absent: the authorities that the API server trusts, or the bundle that
   * cert-manager injects.
   */
  readonly caBundle?: string;
  /** URL of the webhook server, `https://host:port`. Either `url` or `service` is required. */
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number };
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Configurations {
  /** Absent when no such hook is registered. */
  readonly validating?: ApplyConfiguration<ValidatingWebhookConfiguration>;
  readonly mutating?: ApplyConfiguration<MutatingWebhookConfiguration>;
  /** Only the conversion settings of the CustomResourceDefinitions. */
  readonly definitions: readonly ApplyConfiguration<CustomResourceDefinition>[];
}

/** Hooks and conversions of a server; `WebhookServer` implements it. */
export interface Registered {
  readonly hooks: readonly AdmissionHook[];
  readonly conversions: readonly Conversion[];
  readonly conversionPath: string;
}

/**
 * Returns the webhook configurations of the registered hooks. Throws `InvalidOptions` when neither `url` nor `service` is set, or two
 * webhooks have the same name.
 */
export function configurations(
  { hooks, conversions, conversionPath }: Registered,
  options: ConfigurationOptions,
): Configurations {
  const metadata = {
    name: options.name,
    ...(options.labels ? { labels: options.labels } : {}),
    ...(options.annotations ? { annotations: options.annotations } : {}),
  };
  checkNames(hooks);
  const webhooksOf = (type: AdmissionHook['type']): ValidatingWebhook[] =>
    hooks.filter((hook) => hook.type === type).map((hook) => webhookOf(hook, options));
  const [validating, mutating] = [webhooksOf('validating'), webhooksOf('mutating')];
  return {
    ...(validating.length > 0
      ? { validating: { ...typeOf(ValidatingWebhookConfiguration), metadata, webhooks: validating } }
      : {}),
    ...(mutating.length > 0
      ? { mutating: { ...typeOf(MutatingWebhookConfiguration), metadata, webhooks: mutating } }
      : {}),
    definitions: conversions.map((one) => definitionOf(one, clientConfigOf(conversionPath, options))),
  } as Configurations;
}

const typeOf = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): object => ({
  apiVersion,
  kind,
});

function checkNames(hooks: readonly AdmissionHook[]): void {
  const names = hooks.map(nameOf);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new RuntimeError('InvalidOptions', `duplicate webhook name ${twice}: give one a name`);
}

/** A domain name with at least three labels, which API servers require: `validate.deployment.v1.apps`. */
function nameOf({ type, kind, options }: AdmissionHook): string {
  if (options.name !== undefined) return options.name;
  const subresource = options.subresource === undefined ? '' : `-${options.subresource}`;
  const verb = type === 'validating' ? 'validate' : 'mutate';
  return `${verb}.${kind.kind.toLowerCase()}${subresource}.${versionOf(kind)}.${groupOf(kind) || 'core'}`;
}

function webhookOf(hook: AdmissionHook, where: ConfigurationOptions): ValidatingWebhook & MutatingWebhook {
  const { kind, options, operations, type, path } = hook;
  const { failurePolicy = 'Fail', matchPolicy = 'Equivalent', sideEffects = 'None', timeoutSeconds = 10 } = options;
  const { namespaceSelector, objectSelector, matchConditions, reinvocationPolicy = 'Never' } = options;
  return {
    name: nameOf(hook),
    clientConfig: clientConfigOf(path, where),
    rules: [
      {
        apiGroups: [groupOf(kind)],
        apiVersions: [versionOf(kind)],
        resources: [options.subresource === undefined ? kind.plural : `${kind.plural}/${options.subresource}`],
        operations: [...operations],
        scope: kind.isNamespaced ? 'Namespaced' : 'Cluster',
      },
    ],
    admissionReviewVersions: ['v1'],
    failurePolicy,
    matchPolicy,
    sideEffects,
    timeoutSeconds,
    ...(type === 'mutating' ? { reinvocationPolicy } : {}),
    ...(namespaceSelector ? { namespaceSelector } : {}),
    ...(objectSelector ? { objectSelector } : {}),
    ...(matchConditions ? { matchConditions: [...matchConditions] } : {}),
  };
}

function clientConfigOf(path: string, { caBundle, url, service }: ConfigurationOptions): WebhookClientConfig {
  if ((url === undefined) === (service === undefined)) {
    throw new RuntimeError('InvalidOptions', 'either url or service is required');
  }
  return {
    ...(url === undefined ? { service: { ...service!, path } } : { url: `${url.replace(/\/+$/, '')}${path}` }),
    ...(caBundle === undefined ? {} : { caBundle: Buffer.from(caBundle).toString('base64') }),
  };
}

function definitionOf(
  { target }: Conversion,
  clientConfig: WebhookClientConfig,
): ApplyConfiguration<CustomResourceDefinition> {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${target.plural}.${target.group}` },
    spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } } },
  };
}

export interface InstallOptions extends ConfigurationOptions {
  readonly fieldManager: string;
  readonly signal?: AbortSignal;
}

/**
 * Applies the webhook configurations with server-side apply, after the conversion settings. The CustomResourceDefinitions must exist.
 * Rejects with the error of the server.
 */
export async function install(client: Client, registered: Registered, options: InstallOptions): Promise<void> {
  const { validating, mutating, definitions } = configurations(registered, options);
  const { fieldManager, signal } = options;
  const how = { fieldManager, force: true, signal };
  for (const definition of definitions) await client.apply(CustomResourceDefinition, definition, how);
  if (mutating) await client.apply(MutatingWebhookConfiguration, mutating, how);
  if (validating) await client.apply(ValidatingWebhookConfiguration, validating, how);
}
