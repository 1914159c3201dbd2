/** `pods/log`: streams the output of a container from its kubelet. */

import { badRequest, internalError, UnclassifiedError } from '@hangar/api';
import { OutboundError } from '../outbound/errors.ts';
import type { Answer } from '../http/message.ts';
import { pass } from '../http/relay.ts';
import type { Call } from '../verbs/call.ts';
import { authority, exchange } from './backend-exchange.ts';
import type { BackendAnswer } from './backend-exchange.ts';
import { beginningOf } from './beginning.ts';
import { refusal } from './errors.ts';
import { passChunked } from './chunked-body.ts';
import { logOverWebSocket } from './log-websocket.ts';
import { logOptions } from './log-options.ts';
import { genericResponse } from './generic-response.ts';
import { containerOf, kubeletOn, named, specOf } from './targets.ts';
import { isWebSocket } from './websocket/handshake.ts';

/** A kubelet that follows a silent container sends the head with the first line, so only other requests are limited. */
const answerTimeoutMs = 60_000;
/** Bytes that are read of an error of the kubelet, as in kube-apiserver. */
const errorBytesMax = 50_000;

const plainText = { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' };

export async function podLog(call: Call): Promise<Answer> {
  const { info, query } = call;
  const options = logOptions(query, info.name);
  const pod = await named(call, 'pods', info.name);
  const container = containerOf(call, pod);
  const { nodeName } = specOf(pod);
  // An unscheduled pod has no log yet.
  if (!nodeName) return { status: 204, headers: plainText, body: [] };
  const kubelet = await kubeletOn(call, nodeName);
  const backend = options.insecureSkipTlsVerifyBackend ? { ...kubelet, peer: 'unverified-kubelet' as const } : kubelet;
  const path = ['containerLogs', info.namespace, info.name, container].map(encodeURIComponent).join('/');
  const target = `/${path}${options.query === '' ? '' : `?${options.query}`}`;
  const headers = { host: authority(backend), 'user-agent': 'hangar' };
  const upgrade = isWebSocket(call.request) ? call.request.passing?.upgrade : undefined;
  // Other logs are short and share connections.
  const direct = options.follow && !upgrade ? 'body' : undefined;
  const answered = await exchange(
    call,
    backend,
    { method: 'GET', target, headers, direct },
    { answerTimeoutMs: options.follow ? undefined : answerTimeoutMs },
  ).catch((error: unknown) => {
    throw failed(error, `https://${authority(backend)}${target}`);
  });
  const status = answered.response.statusCode ?? 0;
  if (status < 200 || status > 206) throw await kubeletError(answered, info.name);
  return upgrade ? logOverWebSocket(call, upgrade, answered) : streamed(answered, options.follow);
}

function failed(error: unknown, url: string): unknown {
  return error instanceof OutboundError
    ? (refusal(error) ?? new UnclassifiedError(`Get ${JSON.stringify(url)}: ${error.message}`, error))
    : error;
}

/** Lines of a followed log are endless; the server ends them when it closes. */
function streamed({ response, chunked, end }: BackendAnswer, follow: boolean): Answer {
  return {
    status: 200,
    headers: plainText,
    body: {
      isFinite: !follow,
      start(sink) {
        sink.onClose(end);
        if (chunked) passChunked(chunked, sink);
        else pass(response, sink);
      },
    },
  };
}

async function kubeletError({ response, end }: BackendAnswer, name: string): Promise<Error> {
  try {
    const text = await beginningOf(response, errorBytesMax);
    const status = response.statusCode ?? 0;
    if (status === 500) return internalError(new Error(text));
    if (status === 400) return badRequest(text);
    return genericResponse({ status, resource: 'pods/log', name, text });
  } catch (error) {
    return internalError(error as Error);
  } finally {
    end();
    response.destroy();
  }
}
