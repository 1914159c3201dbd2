/**
 * A definition's conversion webhook: objects of one version become objects of another. The webhook decides about what is in
 * them, and of their metadata about labels and annotations; who they are stays as it was.
 */

import { annotationErrors, fieldErrorText, isObject, labelErrors, quote, UnclassifiedError } from '@hangar/api';
import type { JsonObject, KubeObject, ObjectMeta } from '@hangar/api';
import type { CustomResourceDefinition } from '@hangar/api/crd';
import { asError, uuid } from '@hangar/core';
import type { ControlPlane } from '../../control-plane.ts';
import { postReview, typeText, webhookClient } from '../../outbound/review-client.ts';
import type { WebhookClient, WebhookClientConfig } from '../../outbound/review-client.ts';

interface StoredConversion {
  readonly webhook?: {
    readonly clientConfig?: WebhookClientConfig;
    readonly conversionReviewVersions?: readonly string[];
  };
}

const timeoutMs = 30_000;

export function conversionWebhook({ spec }: CustomResourceDefinition): ConversionWebhook {
  const { webhook } = (spec as { conversion?: StoredConversion }).conversion ?? {};
  const { clientConfig = {}, conversionReviewVersions = [] } = webhook ?? {};
  return new ConversionWebhook(spec.names.kind, clientConfig, conversionReviewVersions);
}

export class ConversionWebhook {
  readonly #kind: string;
  readonly #config: WebhookClientConfig;
  readonly #reviewVersion: 'v1' | 'v1beta1' | undefined;
  #client: WebhookClient | undefined;

  constructor(kind: string, config: WebhookClientConfig, reviewVersions: readonly string[]) {
    this.#kind = kind;
    this.#config = config;
    this.#reviewVersion = reviewVersions.find((one) => one === 'v1' || one === 'v1beta1') as
      | 'v1'
      | 'v1beta1'
      | undefined;
  }

  /**
   * All of them by one call, in their order; those that are of the version already come back as they are. Rejects with 500
   * when the webhook fails, or makes something else of one of them.
   */
  async convert(plane: ControlPlane, objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    const others = objects.filter((one) => one.apiVersion !== apiVersion);
    if (others.length === 0) return [...objects];
    const from = `${others[0]!.apiVersion}, Kind=${this.#kind}`;
    const fail = (rest: string, cause?: unknown): Error =>
      new UnclassifiedError(`conversion webhook for ${from} ${rest}`, cause);
    let answered: readonly unknown[];
    try {
      answered = await this.#ask(plane, others, apiVersion);
    } catch (error) {
      throw fail(`failed: ${asError(error).message}`, error);
    }
    if (answered.length !== others.length) {
      throw fail(`returned ${answered.length} objects, expected ${others.length}`);
    }
    const converted = others.map((original, at) => {
      try {
        return checked(original, answered[at], apiVersion);
      } catch (error) {
        const part = error instanceof Mismatch ? error.part : 'identity';
        throw fail(`${mismatchText(part, at, objects.length > 1)}: ${asError(error).message}`, error);
      }
    });
    return objects.map((one) => (one.apiVersion === apiVersion ? one : converted.shift()!));
  }

  async #ask(
    plane: ControlPlane,
    objects: readonly KubeObject[],
    desiredAPIVersion: string,
  ): Promise<readonly unknown[]> {
    const version = this.#reviewVersion;
    if (version === undefined) throw new Error('no supported conversion review versions');
    const uid = uuid(plane.random);
    const apiVersion = `apiextensions.k8s.io/${version}`;
    const review: JsonObject = {
      kind: 'ConversionReview',
      apiVersion,
      request: { uid, desiredAPIVersion, objects },
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    };
    this.#client ??= webhookClient(this.#config);
    const answer = await postReview(plane, this.#client, review, { timeoutMs, tellsTimeout: false });
    if (version === 'v1') {
      const [wanted, got] = [typeText(review), typeText(answer)];
      if (got !== wanted) throw new Error(`expected webhook response of ${wanted}, got ${got}`);
    }
    return convertedObjects(answer, version === 'v1' ? uid : undefined);
  }
}

/** What is wrong with an object that a webhook made. */
class Mismatch extends Error {
  readonly part: 'type' | 'identity' | 'metadata';

  constructor(part: Mismatch['part'], message: string) {
    super(message);
    this.part = part;
  }
}

/** In kube-apiserver's words, which are others for objects of a list. */
function mismatchText(part: Mismatch['part'], at: number, isList: boolean): string {
  if (part === 'metadata') return `returned invalid metadata${isList ? ` in object at index ${at}` : ''}`;
  if (isList) return `returned invalid converted object at index ${at}`;
  return part === 'type' ? 'returned invalid object at index 0' : 'returned invalid object';
}

/** Of v1beta1 the uid is not looked at. */
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

/** Throws an Error that says what else it is. */
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
