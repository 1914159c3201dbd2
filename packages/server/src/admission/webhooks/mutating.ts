/**
 * MutatingAdmissionWebhook: calls webhooks in order, each with the changes of those before it. In the second round, webhooks with
 * `reinvocationPolicy: IfNeeded` are called again if the object changed after their call.
 */

import { isDeepStrictEqual } from 'node:util';
import { ApiError, applyJsonPatch, internalError, isObject, timedOut } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { asError } from '@hangar/core';
import type { ControlPlane } from '../../control-plane.ts';
import { bodyBytesMax } from '../../limits.ts';
import type { AdmissionPlugin, AdmissionRequest, MutationRounds } from '../admission.ts';
import { askWebhook, isOver, WebhookFailure } from './ask.ts';
import type { Webhook } from './configuration.ts';
import { invocationOf, matchedResource } from './invocation.ts';
import { readPatch } from './review.ts';
import type { Verdict } from './review.ts';
import { WebhookSource } from './source.ts';
import { VersionedRequest } from './versions.ts';

/** State that the first round passes to the second. */
interface Reinvocation {
  /** Webhooks to call again if the object changes later. */
  asked: Set<string>;
  /** Webhooks to call again. */
  readonly again: Set<string>;
  /** The object after the last webhook. */
  left: KubeObject | undefined;
}

const hookPrefix = 'mutation.webhook.admission.k8s.io/';
const patchPrefix = 'patch.webhook.admission.k8s.io/';
const failedOpenPrefix = `failed-open.${hookPrefix}`;

export function mutatingWebhooks(plane: ControlPlane): AdmissionPlugin {
  const source = new WebhookSource(plane, 'mutating');
  const plugin: AdmissionPlugin = {
    name: 'MutatingAdmissionWebhook',
    mutate(request, rounds) {
      const webhooks = source.for(request);
      if (webhooks instanceof Promise) return webhooks.then((all) => mutate(all, request, rounds, plugin));
      // Synchronous and without allocations if no webhook matches.
      if (webhooks.length === 0 || !webhooks.some((one) => matchedResource(one, request))) return undefined;
      return mutate(webhooks, request, rounds, plugin);
    },
    close: () => source.close(),
  };
  return plugin;
}

async function mutate(
  webhooks: readonly Webhook[],
  request: AdmissionRequest,
  rounds: MutationRounds,
  plugin: AdmissionPlugin,
): Promise<void> {
  if (webhooks.length === 0) return;
  const state = rounds.state<Reinvocation>(plugin, () => ({ asked: new Set(), again: new Set(), left: undefined }));
  // Other plugins changed the object: all reinvocable webhooks are called again.
  if (rounds.isSecond && !isDeepStrictEqual(state.left, request.object)) requireAgain(state);
  const shown = new VersionedRequest(request);
  for (const [at, webhook] of webhooks.entries()) {
    const invocation = await invocationOf(webhook, shown);
    // Webhooks that were not called in the first round are not called in the second.
    if (!invocation || (rounds.isSecond && !state.again.has(webhook.id))) continue;
    await shown.show(invocation.resource);
    const place = `round_${rounds.isSecond ? 1 : 0}_index_${at}`;
    let isChanged = false;
    try {
      isChanged = applyVerdict(await askWebhook(invocation, shown, true), webhook, shown, place);
    } catch (error) {
      if (!(error instanceof WebhookFailure)) throw error;
      if (!webhook.ignoresFailure) throw internalError(error);
      request.annotate(`${failedOpenPrefix}${place}`, webhook.name);
      if (isOver(request)) throw timedOut('request did not complete within requested timeout', 0);
    } finally {
      const { configuration, name } = webhook;
      request.annotate(`${hookPrefix}${place}`, JSON.stringify({ configuration, webhook: name, mutated: isChanged }));
    }
    if (isChanged) {
      requireAgain(state);
      rounds.needsSecond = true;
    }
    if (webhook.isReinvocable) state.asked.add(webhook.id);
  }
  await shown.settle();
  state.left = structuredClone(request.object);
}

function requireAgain(state: Reinvocation): void {
  for (const id of state.asked) state.again.add(id);
  state.asked = new Set();
}

/** Reports whether the object changed. Throws a WebhookFailure for an invalid patch. */
function applyVerdict(
  { patch, patchType }: Verdict,
  webhook: Webhook,
  shown: VersionedRequest,
  place: string,
): boolean {
  if (patch === undefined) return false;
  const operations = operationsOf(patch as Uint8Array, webhook);
  if (operations.length === 0) return false;
  const { object, request } = shown;
  if (!object) {
    const what = `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`;
    throw internalError(new Error(what));
  }
  if (patchType !== 'JSONPatch') {
    throw new WebhookFailure(webhook.name, new Error(`unsupported patch type ${JSON.stringify(patchType)}`));
  }
  const changed = patched(object, operations, shown);
  insistOnSize(changed, patch as Uint8Array, operations, webhook);
  request.annotate(
    `${patchPrefix}${place}`,
    JSON.stringify({ configuration: webhook.configuration, webhook: webhook.name, patch: operations, patchType }),
    'Request',
  );
  const isChanged = !isDeepStrictEqual(object, changed);
  shown.reader.strategy.applyDefaults(changed);
  shown.change(changed);
  return isChanged;
}

/** A smaller patch without copies adds little to an object that fits into a request. */
const smallPatchBytes = 64 * 1024;

/** Throws a WebhookFailure if the object exceeds the maximum size of a request body. */
function insistOnSize(object: KubeObject, patch: Uint8Array, operations: readonly unknown[], { name }: Webhook): void {
  const hasCopies = operations.some((one) => isObject(one) && one['op'] === 'copy');
  if (!hasCopies && patch.length < smallPatchBytes) return;
  if (JSON.stringify(object).length > bodyBytesMax) {
    throw new WebhookFailure(name, new Error(`the patched object is larger than ${bodyBytesMax} bytes`));
  }
}

function operationsOf(patch: Uint8Array, { name }: Webhook): readonly unknown[] {
  try {
    return readPatch(patch);
  } catch (error) {
    const why = `received undecodable patch in webhook response: ${asError(error).message}`;
    throw new WebhookFailure(name, new Error(why, { cause: error }));
  }
}

/** The result must be an object of the kind; unknown fields are dropped. Throws 500. */
function patched(object: KubeObject, operations: readonly unknown[], { reader }: VersionedRequest): KubeObject {
  try {
    const value = applyJsonPatch(object, operations, { ignoreUnknownFields: true });
    if (!isObject(value)) throw new Error('the patched object is not an object');
    const { object: read, error } = reader.read(structuredClone(value), undefined);
    if (error !== undefined) throw new Error(error);
    return read;
  } catch (error) {
    if (error instanceof ApiError) throw internalError(new Error(error.message, { cause: error }));
    throw internalError(asError(error));
  }
}
