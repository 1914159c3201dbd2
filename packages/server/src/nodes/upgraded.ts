/** Requests to switch the protocol of a connection, to a kubelet or a pod. */

import { UnclassifiedError } from '@hangar/api';
import { answeredHeaders } from '../aggregation/answer-headers.ts';
import { joined } from '../aggregation/tunnel.ts';
import { closingWith, isStreaming } from '../http/message.ts';
import type { Answer, Upgrade } from '../http/message.ts';
import { pass } from '../http/relay.ts';
import type { Call } from '../verbs/call.ts';
import { exchange } from './backend-exchange.ts';
import type { BackendAnswer } from './backend-exchange.ts';
import { upgradeError } from './errors.ts';
import type { Backend, BackendRequest } from './node-connections.ts';

/** Time limit of the answer of the backend. */
const answerTimeoutMs = 60_000;

/** Sends a request to switch the protocol on a dedicated connection. Rejects with a StatusError. */
export async function askForUpgrade(call: Call, backend: Backend, request: BackendRequest): Promise<BackendAnswer> {
  try {
    return await exchange(call, backend, { ...request, isAlone: true }, { answerTimeoutMs });
  } catch (error) {
    throw upgradeError(error);
  }
}

/** Sends the request, and connects both sides if the backend switches the protocol. Otherwise, returns the response of the backend. */
export async function upgraded(
  call: Call,
  backend: Backend,
  request: BackendRequest,
  upgrade: Upgrade,
): Promise<Answer> {
  const answered = await askForUpgrade(call, backend, { ...request, direct: 'upgrade' });
  return answered.upgraded
    ? untilClosed(joined(upgrade, answered.upgraded, answered.response), answered.end)
    : refused(answered);
}

const untilClosed = (answer: Answer, end: () => void): Answer => {
  const { body } = answer;
  return isStreaming(body) ? { ...answer, body: closingWith(body, end) } : answer;
};

/** As in kube-apiserver, an error of the backend is passed on; any other response is unexpected. */
export function refused({ response, end }: BackendAnswer): Answer {
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
