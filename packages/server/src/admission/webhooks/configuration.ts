/** A webhook as its configuration says it, compiled once: rules to match, selectors to ask, a place to call. */

import { internalError, LabelSelector, labelSelectorOf } from '@hangar/api';
import type { KubeObject, LabelSelectorObject } from '@hangar/api';
import { asError } from '@hangar/core';
import { webhookClient } from '../../outbound/review-client.ts';
import type { WebhookClient, WebhookClientConfig } from '../../outbound/review-client.ts';
import type { Rule } from '../matching/rules.ts';
import { MatchConditions } from './conditions.ts';
import type { MatchCondition } from './conditions.ts';

/** One of `webhooks`, as it is stored: defaulted and validated, unless others wrote it. */
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
  /** Of the configuration that it is in. */
  readonly configuration: string;
  /** Tells it from all others, also from another one of the same name. */
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly ignoresFailure: boolean;
  readonly matchesEquivalent: boolean;
  /** Throws 500 when it means nothing, which only others could have stored: a gate that nobody can read stays shut. */
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** What it does besides answering would be done by a dry run, too. */
  readonly hasSideEffects: boolean;
  readonly timeoutMs: number;
  /** The first of them that is known here; undefined: it cannot be asked. */
  readonly reviewVersion: 'v1' | 'v1beta1' | undefined;
  readonly isReinvocable: boolean;
  readonly conditions: MatchConditions | undefined;
  /** Throws when it names no place that could be called. */
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
