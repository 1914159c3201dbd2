/**
 * Posts a review to a webhook and reads the returned review: for admission and for conversion. Error messages are those of kube-apiserver's
 * client, which users search for.
 */

import { ApiError, countText, formatDuration, isObject, parseJson, quote } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { ControlPlane } from '../control-plane.ts';
import { bodyBytesMax } from '../limits.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { OutboundError } from './errors.ts';
import type { OutboundAnswer } from './outbound.ts';

/** `clientConfig` of a webhook, as stored. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in base64. */
  readonly caBundle?: string;
}

/** Connection parameters of a webhook; built once for each configuration. */
export interface WebhookClient {
  readonly url: URL;
  readonly service?: { readonly namespace: string; readonly name: string; readonly port: number };
  readonly ca: string | undefined;
}

/** Same as the limit of request bodies: kube-apiserver stores no larger object, and so needs no larger patch. */
export const answerBytesMax = bodyBytesMax;
/** Weight limit of a response, see `bodyWeightMax`. Parsing more at once would block other requests. */
const answerNodesMax = 200_000;

/** Throws if the configuration has no valid target. */
export function webhookClient({ url, service, caBundle = '' }: WebhookClientConfig): WebhookClient {
  const ca = Buffer.from(caBundle, 'base64').toString().trim() || undefined;
  if (service) {
    const { namespace, name, path = '', port = 443 } = service;
    const target = new URL(`https://${name}.${namespace}.svc:${port}`);
    target.pathname = path;
    return { url: target, service: { namespace, name, port }, ca };
  }
  if (url === undefined) throw new Error('webhook configuration must have either service or URL');
  return { url: new URL(url), ca };
}

export interface PostOptions {
  readonly timeoutMs: number;
  /** Sends the timeout to the webhook. */
  readonly tellsTimeout: boolean;
  /** Shared by all calls of the same request. */
  readonly budget?: AnswerBudget;
  /** See `OutboundRequest.isConversion`. */
  readonly isConversion?: boolean;
}

/** Returns the parsed response. `review` builds the body when the call starts. Rejects with an Error that states the cause. */
export async function postReview(
  plane: ControlPlane,
  { url, service, ca }: WebhookClient,
  review: () => string,
  { timeoutMs, tellsTimeout, budget, isConversion = false }: PostOptions,
): Promise<JsonObject> {
  const target = new URL(url);
  if (tellsTimeout) target.search = `timeout=${formatDuration(BigInt(Math.ceil(timeoutMs / 1_000)) * 1_000_000_000n)}`;
  let answer: OutboundAnswer | undefined;
  const beforeMs = plane.clock.monotonicMs();
  try {
    const resolved = service && (await plane.services.resolve(service));
    answer = await plane.outbound.request({
      url: target,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, */*' },
      body: review,
      ca,
      timeoutMs,
      bytesMax: answerBytesMax,
      budget,
      isConversion,
      ...(resolved ? { address: resolved, serverName: resolved.serverName, isService: true } : {}),
    });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new Error(`Post ${quote(shown(target, service))}: ${error.message}`, { cause: error });
  } finally {
    const seconds = (plane.clock.monotonicMs() - beforeMs) / 1_000;
    plane.metrics.clients.called({ host: target.host, method: 'POST', status: answer?.status, seconds });
  }
  return readReview(answer);
}

/** Services are shown with their port even if it is the default. */
const shown = (url: URL, service: WebhookClient['service']): string =>
  service ? url.href.replace(url.host, `${url.hostname}:${service.port}`) : url.href;

/** Throws an Error if the JSON has more values than can be parsed at once. */
export function insistOnFewNodes(text: string): void {
  // A value takes at least one character.
  if (text.length <= answerNodesMax) return;
  const { weight, managedWeight } = countText(text);
  if (weight + managedWeight > answerNodesMax) throw new Error(`the response has more than ${answerNodesMax} values`);
}

function readReview({ status, body }: OutboundAnswer): JsonObject {
  const text = body.toString();
  insistOnFewNodes(text);
  let value: unknown;
  let problem: string | undefined;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    problem = `couldn't get version/kind; json parse error: ${error.message}`;
  }
  if (status < 200 || status > 206) throw new Error(refusal(status, value, text.trim() || 'unknown'));
  if (problem !== undefined) throw new Error(problem);
  if (!isObject(value)) throw new Error(`couldn't get version/kind; json parse error: the response is not an object`);
  return value;
}

/** Formats the type of an object as Go does: `group/version, Kind=kind`. */
export function typeText({ apiVersion, kind }: JsonObject): string {
  const [version, name] = [apiVersion, kind].map((one) => (typeof one === 'string' ? one : ''));
  return `${version!.includes('/') ? '' : '/'}${version}, Kind=${name}`;
}

const byStatus: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

function refusal(status: number, value: unknown, text: string): string {
  if (isObject(value) && value['kind'] === 'Status' && typeof value['message'] === 'string') return value['message'];
  if (status === 403 || status === 415) return text;
  const known = byStatus[status];
  if (known !== undefined) return known;
  if (status >= 500) return `an error on the server (${quote(text)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}
