/**
 * Conversion webhook of a definition: converts objects from one version to another. The webhook determines the contents, labels and
 * annotations; the identity of the objects must not change.
 */

import { annotationErrors, fieldErrorText, isObject, labelErrors, quote, UnclassifiedError } from '@hangar/api';
import type { JsonObject, KubeObject, ObjectMeta } from '@hangar/api';
import type { CustomResourceDefinition } from '@hangar/api/crd';
import { asError, Slicer, uuid } from '@hangar/core';
import type { ControlPlane } from '../../control-plane.ts';
import { AnswerBudget } from '../../outbound/answer-budget.ts';
import { answerBytesMax, postReview, typeText, webhookClient } from '../../outbound/review-client.ts';
import type { WebhookClient, WebhookClientConfig } from '../../outbound/review-client.ts';

interface StoredConversion {
  readonly webhook?: {
    readonly clientConfig?: WebhookClientConfig;
    readonly conversionReviewVersions?: readonly string[];
  };
}

const timeoutMs = 30_000;
/** Characters of objects per batch, so that a response of several times this length can still be read at once. */
const batchLength = 512 * 1024;
/** Limit of the growth factor of converted objects. */
const growthMax = 4;

interface Batch {
  /** The objects as JSON. */
  readonly texts: readonly string[];
  /** Shared by all batches of a request. */
  readonly budget: AnswerBudget;
}

export function conversionWebhook({ spec }: CustomResourceDefinition): ConversionWebhook {
  const { webhook } = (spec as { conversion?: StoredConversion }).conversion ?? {};
  const { clientConfig = {}, conversionReviewVersions = [] } = webhook ?? {};
  const definition = `${spec.names.plural}.${spec.group}`;
  return new ConversionWebhook({ kind: spec.names.kind, definition }, clientConfig, conversionReviewVersions);
}

export class ConversionWebhook {
  readonly #kind: string;
  readonly #definition: string;
  readonly #config: WebhookClientConfig;
  readonly #reviewVersion: 'v1' | 'v1beta1' | undefined;
  #client: WebhookClient | undefined;

  constructor(
    { kind, definition }: { readonly kind: string; readonly definition: string },
    config: WebhookClientConfig,
    reviewVersions: readonly string[],
  ) {
    this.#kind = kind;
    this.#definition = definition;
    this.#config = config;
    this.#reviewVersion = reviewVersions.find((one) => one === 'v1' || one === 'v1beta1') as
      | 'v1'
      | 'v1beta1'
      | undefined;
  }

  /**
   * Converts objects in order, with one call if they are small enough; objects that already have the version are returned unchanged.
   * Rejects with 500 if the webhook fails or returns an invalid object.
   */
  async convert(plane: ControlPlane, objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    const others = objects.filter((one) => one.apiVersion !== apiVersion);
    if (others.length === 0) return [...objects];
    const from = `${others[0]!.apiVersion}, Kind=${this.#kind}`;
    const fail = (rest: string, cause?: unknown): Error =>
      new UnclassifiedError(`conversion webhook for ${from} ${rest}`, cause);
    const slicer = new Slicer(plane.clock);
    const converted: KubeObject[] = [];
    for (const batch of await this.#batches(others, slicer)) {
      let answered: readonly unknown[];
      const beforeMs = plane.clock.monotonicMs();
      const record = (isSuccess: boolean): void =>
        plane.metrics.conversions.converted({
          definition: this.#definition,
          fromVersion: others[0]!.apiVersion!,
          toVersion: apiVersion,
          isSuccess,
          seconds: (plane.clock.monotonicMs() - beforeMs) / 1_000,
        });
      try {
        answered = await this.#ask(plane, batch, apiVersion);
        record(true);
      } catch (error) {
        record(false);
        throw fail(`failed: ${asError(error).message}`, error);
      }
      if (answered.length !== batch.texts.length) {
        throw fail(`returned ${answered.length} objects, expected ${batch.texts.length}`);
      }
      slicer.restart();
      for (const one of answered) {
        const at = converted.length;
        try {
          converted.push(checked(others[at]!, one, apiVersion));
        } catch (error) {
          const part = error instanceof Mismatch ? error.part : 'identity';
          throw fail(`${mismatchText(part, at, objects.length > 1)}: ${asError(error).message}`, error);
        }
        await slicer.pause();
      }
    }
    return objects.map((one) => (one.apiVersion === apiVersion ? one : converted.shift()!));
  }

  /** Splits objects into batches. A response may be several times as large as its batch. */
  async #batches(objects: readonly KubeObject[], slicer: Slicer): Promise<Batch[]> {
    const batches: { texts: string[]; length: number; budget: AnswerBudget }[] = [];
    let total = 0;
    for (const object of objects) {
      const text = JSON.stringify(object);
      total += text.length;
      let last = batches.at(-1);
      if (!last || (last.length > 0 && last.length + text.length > batchLength)) {
        batches.push((last = { texts: [], length: 0, budget: undefined as never }));
      }
      last.texts.push(text);
      last.length += text.length;
      await slicer.pause();
    }
    const budget = new AnswerBudget(answerBytesMax + growthMax * total, 'this request');
    return batches.map(({ texts }) => ({ texts, budget }));
  }

  async #ask(plane: ControlPlane, { texts, budget }: Batch, desiredAPIVersion: string): Promise<readonly unknown[]> {
    const version = this.#reviewVersion;
    if (version === undefined) throw new Error('no supported conversion review versions');
    const uid = uuid(plane.random);
    const review = { kind: 'ConversionReview', apiVersion: `apiextensions.k8s.io/${version}` };
    const body = (): string => {
      const [kind, apiVersion, id, desired] = [review.kind, review.apiVersion, uid, desiredAPIVersion].map((one) =>
        JSON.stringify(one),
      );
      const request = `{"uid":${id},"desiredAPIVersion":${desired},"objects":[${texts.join(',')}]}`;
      const response = '{"uid":"","convertedObjects":null,"result":{"metadata":{}}}';
      return `{"kind":${kind},"apiVersion":${apiVersion},"request":${request},"response":${response}}`;
    };
    this.#client ??= webhookClient(this.#config);
    const options = { timeoutMs, tellsTimeout: false, budget, isConversion: true };
    const answer = await postReview(plane, this.#client, body, options);
    if (version === 'v1') {
      const [wanted, got] = [typeText(review), typeText(answer)];
      if (got !== wanted) throw new Error(`expected webhook response of ${wanted}, got ${got}`);
    }
    return convertedObjects(answer, version === 'v1' ? uid : undefined);
  }
}

/** Invalid part of an object that a webhook returned. */
class Mismatch extends Error {
  readonly part: 'type' | 'identity' | 'metadata';

  constructor(part: Mismatch['part'], message: string) {
    super(message);
    this.part = part;
  }
}

/** Messages of kube-apiserver, which differ for objects of a list. */
function mismatchText(part: Mismatch['part'], at: number, isList: boolean): string {
  if (part === 'metadata') return `returned invalid metadata${isList ? ` in object at index ${at}` : ''}`;
  if (isList) return `returned invalid converted object at index ${at}`;
  return part === 'type' ? 'returned invalid object at index 0' : 'returned invalid object';
}

/** The uid is ignored for v1beta1. */
function convertedObjects({ response }: JsonObject, uid: string | undefined): readonly unknown[] {
  if (!isObject(response)) throw new Error('no response provided');
  if (uid !== undefined && response['uid'] !== uid) {
    throw new Error(`expected response.uid=${quote(uid)}, got ${quote(textOf(response['uid']))}`);
  }
  const result = isObject(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success') {
    throw new Error(
      textOf(result['message']) || `response.result.status was '${textOf(result['status'])}', not 'Success'`,
    );
  }
  return Array.isArray(response['convertedObjects']) ? (response['convertedObjects'] as unknown[]) : [];
}

const aggregate = (texts: readonly string[]): string => (texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Throws an Error that names the mismatch. */
function checked(original: KubeObject, value: unknown, apiVersion: string): KubeObject {
  if (!isObject(value)) throw new Error('it is not an object');
  const { apiVersion: gotVersion, kind, metadata } = value;
  if (gotVersion !== apiVersion) {
    throw new Mismatch('type', `invalid groupVersion (expected ${apiVersion}, received ${textOf(gotVersion)})`);
  }
  if (kind !== original.kind) {
    throw new Mismatch('type', `invalid kind (expected ${original.kind}, received ${textOf(kind)})`);
  }
  if (!isObject(metadata)) throw new Mismatch('metadata', 'missing metadata in converted object');
  for (const [name, what] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before, after] = [original.metadata[name] ?? '', metadata[name] ?? ''];
    if (before !== after) throw new Mismatch('identity', `must have the same ${what}: ${before} != ${textOf(after)}`);
  }
  return { ...value, apiVersion, kind: original.kind, metadata: restored(original.metadata, metadata) } as KubeObject;
}

function restored(original: ObjectMeta, converted: JsonObject): ObjectMeta {
  const { labels: _, annotations: __, ...rest } = original;
  const metadata: ObjectMeta = structuredClone(rest);
  for (const name of ['labels', 'annotations'] as const) {
    const given = converted[name];
    if (given === undefined || given === null) continue;
    if (!isObject(given)) throw new Mismatch('metadata', `invalid metadata.${name} in converted object`);
    for (const [key, value] of Object.entries(given)) {
      if (typeof value !== 'string')
        throw new Mismatch('metadata', `metadata.${name}[${key}] must be a string in converted object`);
    }
    const texts = given as Record<string, string>;
    const before = original[name] ?? {};
    const isChanged =
      Object.keys(before).length !== Object.keys(texts).length ||
      Object.entries(texts).some(([key, value]) => before[key] !== value);
    const errors = !isChanged
      ? []
      : name === 'labels'
        ? labelErrors(texts, 'metadata.labels')
        : annotationErrors(texts, 'metadata.annotation');
    if (errors.length > 0) throw new Mismatch('metadata', aggregate(errors.map(fieldErrorText)));
    if (Object.keys(texts).length > 0) metadata[name] = texts;
  }
  return metadata;
}
