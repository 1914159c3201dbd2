/** `pods/exec`, `pods/attach` and `pods/portforward`: connections of SPDY or WebSocket between a client and a kubelet. */

import { badRequest, forbiddenRequest, UnclassifiedError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { answeredHeaders } from '../aggregation/answer-headers.ts';
import { pass } from '../aggregation/proxy.ts';
import { insistOnNoBody, joined } from '../aggregation/tunnel.ts';
import { closingWith, isStreaming } from '../http/message.ts';
import type { Answer, Upgrade } from '../http/message.ts';
import { groupResource } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { authority, exchange } from './backend-exchange.ts';
import type { BackendAnswer } from './backend-exchange.ts';
import { admitConnection } from './connect-admission.ts';
import { upgradeError } from './errors.ts';
import { upgradingHeaders } from './forwarded-headers.ts';
import type { Backend, BackendRequest } from './node-connections.ts';
import { containerOf, kubeletOn, named, specOf } from './targets.ts';

/** Time limit of the kubelet's answer to a request to switch the protocol. */
const answerTimeoutMs = 60_000;

export async function podStream(call: Call): Promise<Answer> {
  const { info, request } = call;
  await admitConnection(call);
  if (info.verb !== 'create') await insistOnCreate(call);
  const pod = await named(call, 'pods', info.name);
  const container = info.subresource === 'portforward' ? '' : containerOf(call, pod);
  const { nodeName } = specOf(pod);
  if (!nodeName) throw badRequest(`pod ${info.name} does not have a host assigned`);
  const kubelet = await kubeletOn(call, nodeName);
  const upgrade = request.passing?.upgrade;
  if (!upgrade) throw badRequest('Upgrade request required');
  insistOnNoBody(request);
  const target = targetOf(call, pod, container);
  const { method } = request;
  const headers = { ...upgradingHeaders(request), host: authority(kubelet) };
  return upgraded(call, kubelet, { method, target, headers }, upgrade);
}

/** A WebSocket starts with GET but is not a read: a user with only `get` must not be able to run programs. */
async function insistOnCreate(call: Call): Promise<void> {
  const { guard, user, info } = call;
  const { decision, reason, error } = await guard.judge(user, { ...info, verb: 'create' });
  if (decision !== 'allow') throw error ?? forbiddenRequest(groupResource(call), info.name, reason);
}

/** Path and query of the request to the kubelet. */
function targetOf({ info, query }: Call, { metadata }: KubeObject, container: string): string {
  const isPortForward = info.subresource === 'portforward';
  const segments = isPortForward
    ? ['portForward', info.namespace, metadata.name!]
    : [info.subresource, info.namespace, metadata.name!, container];
  const parameters = new URLSearchParams();
  if (isPortForward) {
    const ports = query.all('ports').map(Number);
    if (ports.length > 0) parameters.append('port', ports.join(','));
  } else {
    if (info.subresource === 'exec') for (const one of query.all('command')) parameters.append('command', one);
    const flags = { error: 'stderr', input: 'stdin', output: 'stdout', tty: 'tty' };
    for (const [name, option] of Object.entries(flags)) if (query.flag(option)) parameters.append(name, '1');
  }
  const search = parameters.toString();
  return `/${segments.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Sends the request, and connects both sides if the backend switches the protocol. Otherwise, returns the response of the backend. */
export async function upgraded(
  call: Call,
  backend: Backend,
  request: BackendRequest,
  upgrade: Upgrade,
): Promise<Answer> {
  const answered = await exchange(call, backend, { ...request, isAlone: true }, { answerTimeoutMs }).catch(
    (error: unknown) => {
      throw upgradeError(error);
    },
  );
  return answered.upgraded
    ? untilClosed(joined(upgrade, answered.upgraded, answered.response), answered.end)
    : refused(answered);
}

const untilClosed = (answer: Answer, end: () => void): Answer => {
  const { body } = answer;
  return isStreaming(body) ? { ...answer, body: closingWith(body, end) } : answer;
};

/** As in kube-apiserver, an error of the backend is passed on; any other response is unexpected. */
function refused({ response, end }: BackendAnswer): Answer {
  const status = response.statusCode ?? 0;
  if (status < 400) {
    end();
    response.destroy();
    throw new UnclassifiedError(`invalid upgrade response: status code ${status}`);
  }
  return {
    status,
    headers: answeredHeaders(response.rawHeaders),
    body: {
      isFinite: true,
      start(sink) {
        sink.onClose(end);
        pass(response, sink);
      },
    },
  };
}
