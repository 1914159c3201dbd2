/** A webhook parsed from its configuration: rules, selectors and client. */

import { internalError, LabelSelector, labelSelectorOf } from '@hangar/api';
import type { KubeObject, LabelSelectorObject } from '@hangar/api';
import { asError } from '@hangar/core';
import { webhookClient } from '../../outbound/review-client.ts';
import type { WebhookClient, WebhookClientConfig } from '../../outbound/review-client.ts';
import type { Rule } from '../matching/rules.ts';
import { MatchConditions } from './conditions.ts';
import type { MatchCondition } from './conditions.ts';

/** One entry of `webhooks` as stored: defaulted and validated, unless written by another server. */
interface StoredWebhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Equivalent' | 'Exact';
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  readonly matchConditions?: readonly MatchCondition[];
}

export interface Webhook {
  readonly name: string;
  /** Name of its configuration. */
  readonly configuration: string;
  /** Unique, also among webhooks of the same name. */
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly ignoresFailure: boolean;
  readonly matchesEquivalent: boolean;
  /** Throws 500 if the stored selector is invalid, so that the webhook fails closed. Only another server can store such a selector. */
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** The webhook has side effects in a dry run, too. */
  readonly hasSideEffects: boolean;
  readonly timeoutMs: number;
  /** First supported version; undefined: the webhook cannot be called. */
  readonly reviewVersion: 'v1' | 'v1beta1' | undefined;
  readonly isReinvocable: boolean;
  readonly conditions: MatchConditions | undefined;
  /** Throws if the client configuration names no valid target. */
  client(): WebhookClient;
}

const defaultTimeoutSeconds = 10;

export function webhooksOf(object: KubeObject, isMutating: boolean): readonly Webhook[] {
  const configuration = object.metadata.name!;
  const stored = (object['webhooks'] ?? []) as readonly StoredWebhook[];
  return stored.map((webhook, at) =>
    compile(webhook, configuration, `${configuration}/${webhook.name}/${at}`, isMutating),
  );
}

function compile(stored: StoredWebhook, configuration: string, id: string, isMutating: boolean): Webhook {
  const { name, clientConfig, rules = [], sideEffects, timeoutSeconds = defaultTimeoutSeconds } = stored;
  const { matchConditions = [], admissionReviewVersions = [] } = stored;
  const ignoresFailure = stored.failurePolicy === 'Ignore';
  let [client, namespaceSelector, objectSelector]: [WebhookClient?, LabelSelector?, LabelSelector?] = [];
  return {
    name,
    configuration,
    id,
    rules,
    ignoresFailure,
    matchesEquivalent: stored.matchPolicy === 'Equivalent',
    get namespaceSelector() {
      return (namespaceSelector ??= selector(stored.namespaceSelector));
    },
    get objectSelector() {
      return (objectSelector ??= selector(stored.objectSelector));
    },
    hasSideEffects: sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun',
    timeoutMs: timeoutSeconds * 1_000,
    reviewVersion: admissionReviewVersions.find((one) => one === 'v1' || one === 'v1beta1') as
      | 'v1'
      | 'v1beta1'
      | undefined,
    isReinvocable: isMutating && stored.reinvocationPolicy === 'IfNeeded',
    conditions: matchConditions.length > 0 ? new MatchConditions(matchConditions, ignoresFailure) : undefined,
    client: () => (client ??= webhookClient(clientConfig)),
  };
}

function selector(object: LabelSelectorObject | undefined): LabelSelector {
  try {
    return object ? labelSelectorOf(object) : new LabelSelector([]);
  } catch (error) {
    throw internalError(asError(error));
  }
}
