/** Decides whether a webhook is called for a request, and with which version of the resource. */

import { asError } from '@hangar/core';
import type { JsonObject, KubeObject } from '@hangar/api';
import type { Resource } from '../../resources/resource.ts';
import type { AdmissionRequest } from '../admission.ts';
import { equivalentsOf } from '../matching/equivalents.ts';
import { namespaceLabels } from '../matching/namespaces.ts';
import { ruleMatches } from '../matching/rules.ts';
import { forbid } from '../refusal.ts';
import type { Webhook } from './configuration.ts';
import { describe } from './review.ts';
import type { VersionedRequest } from './versions.ts';

export interface Invocation {
  readonly webhook: Webhook;
  /** The resource that the webhook receives the request as. */
  readonly resource: Resource;
  readonly described: JsonObject;
}

/** Returns the resource that the rules match; undefined if they do not match. Cheap: checked first. */
export function matchedResource(webhook: Webhook, request: AdmissionRequest): Resource | undefined {
  const { resource, plane } = request;
  const matches = (target: Resource) => (rule: Webhook['rules'][number]) => ruleMatches(rule, request, target);
  if (webhook.rules.some(matches(resource))) return resource;
  if (!webhook.matchesEquivalent) return undefined;
  const equivalents = equivalentsOf(plane, resource);
  if (equivalents.length === 0) return undefined;
  // The order of rules takes precedence over the order of versions.
  for (const rule of webhook.rules) {
    const found = equivalents.find((one) => matches(one)(rule));
    if (found) return found;
  }
  return undefined;
}

/** Returns undefined if the webhook is not called. Rejects if that is unknown. */
export async function invocationOf(webhook: Webhook, shown: VersionedRequest): Promise<Invocation | undefined> {
  const { request } = shown;
  const resource = matchedResource(webhook, request);
  if (!resource || !objectSelected(webhook, request, shown.object)) return undefined;
  if (!webhook.namespaceSelector.isEmpty) {
    const labels = await namespaceLabels(request);
    if (labels && !webhook.namespaceSelector.matches(labels)) return undefined;
  }
  const described = describe(request, resource);
  if (webhook.conditions) {
    await shown.show(resource);
    const { object, old } = shown;
    const seen = { request, described, object, old };
    const isMatched = await webhook.conditions.match(seen).catch((error: unknown) => {
      throw forbid(request, asError(error).message);
    });
    if (!isMatched) return undefined;
  }
  return { webhook, resource, described };
}

/** Matches the new or the old object. Connect options have no labels, so no selector matches them. */
function objectSelected(
  { objectSelector }: Webhook,
  { operation, old }: AdmissionRequest,
  object: KubeObject | undefined,
): boolean {
  if (objectSelector.isEmpty) return true;
  if (operation === 'CONNECT') return false;
  return [object, old].some((one) => one !== undefined && objectSelector.matches(one.metadata?.labels));
}
