/** `nodes/proxy`, `pods/proxy` and `services/proxy`: finds the backend, and forwards the request. */

import { badRequest, quote, serviceUnavailable } from '@hangar/api';
import type { Answer } from '../http/message.ts';
import type { Call } from '../verbs/call.ts';
import { admitConnection } from './connect-admission.ts';
import type { Backend } from './node-connections.ts';
import { forwarded } from './proxy.ts';
import { find, isGlobalUnicast, kubeletOn, named, proxyTarget, specOf } from './targets.ts';

interface PodStatus {
  readonly podIPs?: readonly { readonly ip: string }[];
}

interface Subset {
  readonly addresses?: readonly EndpointAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

interface EndpointAddress {
  readonly ip: string;
  readonly targetRef?: { readonly namespace?: string; readonly name?: string };
}

export async function nodeProxy(call: Call): Promise<Answer> {
  await admitConnection(call);
  const { scheme, name, port } = proxyTarget(call, 'node');
  const kubelet = await kubeletOn(call, name);
  const { host } = kubelet;
  if (/^[\d.]+$|:/.test(host) && !isGlobalUnicast(host)) throw badRequest('address not allowed');
  const isKubelet = port === '' || port === String(kubelet.port);
  return forwarded(call, isKubelet ? kubelet : workload(scheme, host, port));
}

export async function podProxy(call: Call): Promise<Answer> {
  await admitConnection(call);
  const { scheme, name, port } = proxyTarget(call, 'pod');
  const pod = await named(call, 'pods', name);
  const host = ((pod['status'] ?? {}) as PodStatus).podIPs?.[0]?.ip ?? '';
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
  const declared = specOf(pod).containers?.find(({ ports }) => ports?.length)?.ports?.[0]?.containerPort;
  return forwarded(call, workload(scheme, host, port || String(declared ?? '')));
}

export async function serviceProxy(call: Call): Promise<Answer> {
  await admitConnection(call);
  const { scheme, name, port } = proxyTarget(call, 'service');
  const portName = await portNameOf(call, name, port);
  const { subsets } = (await named(call, 'endpoints', name)) as { subsets?: readonly Subset[] };
  if (!subsets?.length) throw serviceUnavailable(`no endpoints available for service ${quote(name)}`);
  const found = await endpointOf(call, subsets, portName);
  if (!found) throw serviceUnavailable(`no endpoints available for service ${quote(call.info.name)}`);
  return forwarded(call, workload(scheme, found.host, String(found.port)));
}

/** Returns the name of the service port with this number; a port that is not a number is a name already. */
async function portNameOf(call: Call, name: string, port: string): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const { ports } = ((await named(call, 'services', name))['spec'] ?? {}) as {
    ports?: readonly { readonly port: number; readonly name?: string }[];
  };
  const found = ports?.find((one) => one.port === Number(port));
  if (found) return found.name ?? '';
  throw serviceUnavailable(`no service port ${Number(port)} found for service ${quote(name)}`);
}

/** A Service can have thousands of addresses that are not addresses of pods. */
const lookupsMax = 100;

/** Returns a random address with the port, of an existing pod of this namespace. */
async function endpointOf(
  call: Call,
  subsets: readonly Subset[],
  portName: string,
): Promise<{ host: string; port: number } | undefined> {
  let lookups = 0;
  for (const { addresses = [], ports = [] } of rotated(call, subsets)) {
    const port = ports.find(({ name = '' }) => name === portName)?.port;
    if (port === undefined) continue;
    for (const address of rotated(call, addresses)) {
      if (lookups++ === lookupsMax) return undefined;
      if (await isPod(call, address)) return { host: address.ip, port };
    }
  }
  return undefined;
}

async function isPod(call: Call, { ip, targetRef }: EndpointAddress): Promise<boolean> {
  if (targetRef?.name === undefined || targetRef.namespace !== call.info.namespace) return false;
  const pod = await find(call, 'pods', targetRef.name);
  return ((pod?.['status'] ?? {}) as PodStatus).podIPs?.some((one) => one.ip === ip) ?? false;
}

/** Returns the same items, starting at a random one. */
function rotated<T>({ plane }: Call, items: readonly T[]): T[] {
  const from = Math.floor(plane.random.fraction() * items.length);
  return [...items.slice(from), ...items.slice(0, from)];
}

function workload(scheme: Backend['scheme'], host: string, port: string): Backend {
  const number = port === '' ? (scheme === 'https' ? 443 : 80) : Number(port);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw serviceUnavailable(`error trying to reach service: dial tcp: address ${port}: invalid port`);
  }
  return { scheme, host, port: number, peer: 'workload' };
}
