/** Whether a webhook is to be asked about a request, and as what. */

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
  /** As which the webhook wants to see the request. */
  readonly resource: Resource;
  readonly described: JsonObject;
}

/** The resource as which its rules name the request; undefined: they do not. Cheap, and asked first. */
export function matchedResource(webhook: Webhook, request: AdmissionRequest): Resource | undefined {
  const { resource, plane } = request;
  const matches = (target: Resource) => (rule: Webhook['rules'][number]) => ruleMatches(rule, request, target);
  if (webhook.rules.some(matches(resource))) return resource;
  if (!webhook.matchesEquivalent) return undefined;
  const equivalents = equivalentsOf(plane, resource);
  if (equivalents.length === 0) return undefined;
  // Earlier rules count more than earlier versions.
  for (const rule of webhook.rules) {
    const found = equivalents.find((one) => matches(one)(rule));
    if (found) return found;
  }
  return undefined;
}

/** Undefined: it is not to be asked. Rejects when that cannot be said. */
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

/** Either state of the object is enough. Options of a connection have no labels, so that no selector selects them. */
function objectSelected(
  { objectSelector }: Webhook,
  { operation, old }: AdmissionRequest,
  object: KubeObject | undefined,
): boolean {
  if (objectSelector.isEmpty) return true;
  if (operation === 'CONNECT') return false;
  return [object, old].some((one) => one !== undefined && objectSelector.matches(one.metadata?.labels));
}
