/** Complete responses of a server to the steps of a case. */

import type { Client } from '@hangar/client';
import type { Case, Step } from './cases.ts';

export interface StepAnswer {
  readonly code: number;
  /** Of a refusal: the Status; else what became of spec and status. */
  readonly body: unknown;
}

/** Makes the object, changes it, and takes it away. */
export async function answersTo(client: Client, { kind, name = 'a', steps }: Case): Promise<StepAnswer[]> {
  const { apiVersion, plural } = kind;
  const all = `/apis/${apiVersion}/${plural}`;
  const answers: StepAnswer[] = [];
  for (const [at, step] of steps.entries()) {
    const before = at === 0 ? undefined : await json(client, 'GET', `${all}/${name}`);
    const object = changed(before?.body ?? { apiVersion, kind: kind.kind, metadata: { name } }, step);
    const target = at === 0 ? all : `${all}/${name}${step.status === undefined ? '' : '/status'}`;
    const { code, body } = await json(client, at === 0 ? 'POST' : 'PUT', target, object);
    const { spec, status } = body as { spec?: unknown; status?: unknown };
    answers.push({ code, body: code < 300 ? { spec, status } : body });
  }
  await json(client, 'DELETE', `${all}/${name}`);
  return answers;
}

function changed(object: object, { spec, status }: Step): object {
  if (status !== undefined) return { ...object, status };
  const { spec: _, ...others } = object as { spec?: unknown };
  return spec === undefined ? others : { ...others, spec };
}

interface Answered {
  readonly code: number;
  readonly body: object;
}

async function json(client: Client, method: string, target: string, body?: object): Promise<Answered> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const answer = await client.raw({ method, target, headers, body: sent });
  return { code: answer.status, body: JSON.parse((await answer.body()).toString()) as object };
}
