/** `pods/exec`, `pods/attach` and `pods/portforward`: connections of SPDY or WebSocket between a client and a kubelet. */

import { badRequest, forbiddenRequest } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { insistOnNoBody } from '../aggregation/tunnel.ts';
import type { Answer } from '../http/message.ts';
import { groupResource } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { authority } from './backend-exchange.ts';
import { admitConnection } from './connect-admission.ts';
import { upgradingHeaders } from './forwarded-headers.ts';
import { offersTunnel, tunneled } from './port-forward-tunnel.ts';
import { streamCloseProtocol, translated } from './stream-translator.ts';
import type { RemoteStreams } from './stream-translator.ts';
import { containerOf, kubeletOn, named, specOf } from './targets.ts';
import { upgraded } from './upgraded.ts';
import { isWebSocket, offeredProtocols } from './websocket/handshake.ts';

/** Feature of kubelets that accept the WebSocket protocols of clients. */
const webSocketFeature = 'ExtendWebSocketsToKubelet';

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
  if (isWebSocket(request) && !kubelet.features.includes(webSocketFeature)) {
    if (info.subresource === 'portforward') {
      if (offersTunnel(request)) return tunneled(call, kubelet, target, upgrade);
    } else if (offeredProtocols(request).includes(streamCloseProtocol)) {
      return translated(call, kubelet, target, { upgrade, streams: streamsOf(call) });
    }
  }
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

function streamsOf({ query }: Call): RemoteStreams {
  const flag = (name: string): boolean => query.flag(name) ?? false;
  return { stdin: flag('stdin'), stdout: flag('stdout'), stderr: flag('stderr'), tty: flag('tty') };
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
