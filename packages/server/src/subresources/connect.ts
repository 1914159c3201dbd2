/**
 * Requests that a kubelet, a pod or a service must answer: log, exec, attach, portforward, proxy. This server cannot reach the cluster
 * network yet: it returns the errors of kube-apiserver for missing targets, and 503 otherwise.
 */

import { badRequest, forbiddenRequest, notFound, quote, serviceUnavailable } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { objectKey } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { groupResource } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { admitConnection } from './connect-admission.ts';

interface Container {
  readonly name: string;
  readonly ports?: readonly { containerPort: number }[];
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
}

const unreachable = (what: string): Error => serviceUnavailable(`this server cannot connect to ${what}`);

/** An unscheduled pod has no log yet. */
export async function podLog(call: Call): Promise<Answer> {
  const pod = await named(call, 'pods', call.info.name);
  checkContainer(call, pod);
  if (specOf(pod).nodeName) throw await unreachableNode(call, specOf(pod).nodeName!);
  return { status: 204, headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' }, body: [] };
}

export async function podStream(call: Call): Promise<Answer> {
  await admitConnection(call);
  if (call.info.verb !== 'create') await insistOnCreate(call);
  const pod = await named(call, 'pods', call.info.name);
  if (call.info.subresource !== 'portforward') checkContainer(call, pod);
  const { nodeName } = specOf(pod);
  if (!nodeName) throw badRequest(`pod ${call.info.name} does not have a host assigned`);
  throw await unreachableNode(call, nodeName);
}

/** A WebSocket starts with GET but is not a read: a user with only `get` must not be able to run programs. */
async function insistOnCreate(call: Call): Promise<void> {
  const { guard, user, info } = call;
  const { decision, reason, error } = await guard.judge(user, { ...info, verb: 'create' });
  if (decision !== 'allow') throw error ?? forbiddenRequest(groupResource(call), info.name, reason);
}

export async function podProxy(call: Call): Promise<Answer> {
  await admitConnection(call);
  const { name } = target(call, 'pod');
  const pod = await named(call, 'pods', name);
  const { podIPs } = (pod['status'] ?? {}) as { podIPs?: { ip: string }[] };
  if (!podIPs?.[0]?.ip) throw badRequest('address not allowed');
  throw unreachable(`pod ${name}`);
}

export async function nodeProxy(call: Call): Promise<Answer> {
  await admitConnection(call);
  throw await unreachableNode(call, target(call, 'node').name);
}

export async function serviceProxy(call: Call): Promise<Answer> {
  await admitConnection(call);
  const { name, port } = target(call, 'service');
  if (/^[+-]?\d+$/.test(port)) {
    const { ports } = ((await named(call, 'services', name))['spec'] ?? {}) as { ports?: { port: number }[] };
    if (!ports?.some((one) => one.port === Number(port))) {
      throw serviceUnavailable(`no service port ${Number(port)} found for service ${quote(name)}`);
    }
  }
  const { subsets } = (await named(call, 'endpoints', name)) as { subsets?: { addresses?: unknown[] }[] };
  if (!subsets?.length) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
  if (subsets.every(({ addresses }) => !addresses?.length)) {
    throw serviceUnavailable(`no endpoints available for service ${quote(call.info.name)}`);
  }
  throw unreachable(`service ${name}`);
}

const specOf = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;

/** `name`, `name:port` or `scheme:name:port`. */
function target({ info }: Call, what: string): { name: string; port: string } {
  const match = /^(?:(?:https?|):(?=.*:))?([^:]+)(?::([^:]*))?$/.exec(info.name);
  if (!match) throw badRequest(`invalid ${what} request ${quote(info.name)}`);
  return { name: match[1]!, port: match[2] ?? '' };
}

function checkContainer({ query }: Call, pod: KubeObject): void {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = specOf(pod);
  const { name } = pod.metadata;
  const asked = query.text('container');
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((one) => one.name);
  if (asked !== '') {
    if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  } else if (containers.length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
}

/** A missing object is reported under the resource of the request, as in kube-apiserver. */
async function named(call: Call, kind: string, name: string): Promise<KubeObject> {
  const { plane, info } = call;
  const resource = plane.catalogue.find({ group: '', version: 'v1', resource: kind })!;
  const namespace = resource.namespaced ? info.namespace : '';
  const { entry } = await plane.store.get(objectKey(plane, resource, namespace, name));
  if (!entry) throw notFound(groupResource(call), name);
  return resource.stored.object(entry);
}

async function unreachableNode(call: Call, node: string): Promise<Error> {
  await named(call, 'nodes', node);
  return unreachable(`node ${node}`);
}
