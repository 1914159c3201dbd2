/** Sends the steps of a case to a server and returns its responses. */

import type { Client } from '@hangar/client';
import { apiVersion, HostedControlPlane, HostedControlPlaneTemplate } from '../index.ts';
import type { Case } from './cases.ts';

export interface StepResponse {
  readonly code: number;
  /** The error message, or spec and status of the object. */
  readonly body: unknown;
}

const kinds = { HostedControlPlane, HostedControlPlaneTemplate };

/** Creates the object, changes it, and deletes it. */
export async function runCase(client: Client, { kind, steps }: Case): Promise<StepResponse[]> {
  const all = `/apis/${apiVersion}/namespaces/default/${kinds[kind].plural}`;
  const responses: StepResponse[] = [];
  for (const [at, { spec, status }] of steps.entries()) {
    const before =
      at === 0 ? { apiVersion, kind, metadata: { name: 'a' } } : (await send(client, 'GET', `${all}/a`)).body;
    const object = status === undefined ? { ...before, spec } : { ...before, status };
    const target = at === 0 ? all : `${all}/a${status === undefined ? '' : '/status'}`;
    const { code, body } = await send(client, at === 0 ? 'POST' : 'PUT', target, object);
    const now = body as { spec?: unknown; status?: unknown; message?: string };
    responses.push({ code, body: code < 300 ? { spec: now.spec, status: now.status } : now.message });
  }
  await send(client, 'DELETE', `${all}/a`);
  return responses;
}

async function send(client: Client, method: string, target: string, object?: object) {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const body = object === undefined ? undefined : Buffer.from(JSON.stringify(object));
  const response = await client.raw({ method, target, headers, body });
  return { code: response.status, body: JSON.parse((await response.body()).toString()) as object };
}
