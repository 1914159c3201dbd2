/**
 * ValidatingAdmissionWebhook: calls all matching webhooks concurrently, so that a request waits only for the slowest. Reports the first
 * denial in their order.
 */

import { internalError, timedOut } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { askWebhook, isOver, WebhookFailure } from './ask.ts';
import type { Webhook } from './configuration.ts';
import { invocationOf, matchedResource } from './invocation.ts';
import type { Invocation } from './invocation.ts';
import { WebhookSource } from './source.ts';
import { VersionedRequest } from './versions.ts';

const failedOpenPrefix = 'failed-open.validating.webhook.admission.k8s.io/';

export function validatingWebhooks(plane: ControlPlane): AdmissionPlugin {
  const source = new WebhookSource(plane, 'validating');
  return {
    name: 'ValidatingAdmissionWebhook',
    validate(request) {
      const webhooks = source.for(request);
      if (webhooks instanceof Promise) return webhooks.then((all) => validate(all, request));
      if (webhooks.length === 0 || !webhooks.some((one) => matchedResource(one, request))) return undefined;
      return validate(webhooks, request);
    },
    close: () => source.close(),
  };
}

interface Question {
  readonly invocation: Invocation;
  readonly shown: VersionedRequest;
}

async function validate(webhooks: readonly Webhook[], request: AdmissionRequest): Promise<void> {
  const questions: Question[] = [];
  for (const webhook of webhooks) {
    // A separate view for each, because they are called concurrently.
    const shown = new VersionedRequest(request);
    const invocation = await invocationOf(webhook, shown);
    if (!invocation) continue;
    await shown.show(invocation.resource);
    questions.push({ invocation, shown });
  }
  if (questions.length === 0) return;
  if (isOver(request)) throw timedOut('request did not complete within requested timeout', 0);
  const outcomes = await Promise.allSettled(questions.map(ask));
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refused) throw refused.reason;
}

async function ask({ invocation, shown }: Question, at: number): Promise<void> {
  const { webhook } = invocation;
  try {
    await askWebhook(invocation, shown, false);
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error;
    if (!webhook.ignoresFailure) throw internalError(error);
    shown.request.annotate(`${failedOpenPrefix}round_0_index_${at}`, webhook.name);
  }
}
