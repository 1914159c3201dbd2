/** Hostile requests without a socket: fast enough for a million of them. */

import assert from 'node:assert/strict';
import { chance } from '@hangar/core';
import type { Random } from '@hangar/core';
import { isStreaming } from '../http/message.ts';
import type { Answer, Sink, Streaming } from '../http/message.ts';
import { thingDefinition } from './hostile-bodies.ts';
import { costlyRequest, hostileRequest } from './hostile-request.ts';
import type { HostileRequest } from './hostile-request.ts';
import { checkPrototypes, judge } from './judge.ts';
import { checkNothingStored } from './refused-writes.ts';
import { asServerRequest } from './subject.ts';
import type { Subject } from './subject.ts';

/** CPU time of the thread, so that a busy machine makes no difference. */
const cpuMaxMs = 5_000;
const costlyChance = 0.0003;

/** Creates objects for the requests, and a definition with an expensive pattern. */
export async function prepare(subject: Subject): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'canary' }, data: { alive: 'yes' } };
  await post(subject, '/api/v1/namespaces/default/configmaps', object);
  await post(subject, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', thingDefinition);
  // The server updates the status of a definition after its creation: from here on, only requests write.
  const target = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.fuzz.example.com';
  for (;;) {
    const answer = await subject.handle(asServerRequest({ method: 'GET', target, headers: {}, body: undefined }));
    if (textOf(answer).includes('"type":"Established","status":"True"')) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function post(subject: Subject, target: string, object: object): Promise<void> {
  const body = Buffer.from(JSON.stringify(object));
  const answer = await subject.handle(asServerRequest({ method: 'POST', target, headers: {}, body }));
  assert.equal(answer.status, 201, textOf(answer));
}

/** Checks that the canary object is unchanged. */
export async function checkCanary(subject: Subject): Promise<void> {
  const target = '/api/v1/namespaces/default/configmaps/canary';
  const answer = await subject.handle(asServerRequest({ method: 'GET', target, headers: {}, body: undefined }));
  assert.equal(answer.status, 200, textOf(answer));
  assert.deepEqual((JSON.parse(textOf(answer)) as { data: object }).data, { alive: 'yes' });
}

export async function fireInProcess(random: Random, subject: Subject, count: number): Promise<void> {
  for (let fired = 0; fired < count;) {
    const request = chance(random, costlyChance) ? costlyRequest(random) : hostileRequest(random);
    // Deleting everything legitimately deletes the canary too, and deleting a definition takes effect later, so both are skipped.
    if (request.method === 'DELETE' && isProtected(request)) continue;
    fired++;
    try {
      await fire(subject, request);
    } catch (error) {
      throw new Error(`in process: ${describe(request)}`, { cause: error });
    }
  }
  checkPrototypes();
}

const isProtected = ({ target }: HostileRequest): boolean =>
  /customresourcedefinitions|configmaps|\/namespaces(\/[^/]*)?([?]|$)/.test(target) && !/configmaps\/a\b/.test(target);

async function fire(subject: Subject, request: HostileRequest): Promise<void> {
  const before = await subject.store.revision();
  const startedUs = process.threadCpuUsage();
  const answer = await subject.handle(asServerRequest(request));
  const contentType = String(answer.headers['content-type'] ?? '');
  if (isStreaming(answer.body)) await drain(answer.body);
  else judge({ method: request.method, status: answer.status, contentType, body: bytesOf(answer) });
  const { user } = process.threadCpuUsage(startedUs);
  assert.ok(user / 1_000 < cpuMaxMs, `took ${Math.round(user / 1_000)} ms of the processor`);
  if (answer.status >= 400) await checkNothingStored(subject.store, before, answer.status);
  assert.deepEqual(subject.failures.map(String), [], 'failures of its own');
}

/** Reads the first frames of a watch, then disconnects. */
async function drain(body: Streaming): Promise<void> {
  let gone = (): void => {};
  const sink: Sink = {
    write: () => true,
    end: () => gone(),
    onDrain: () => {},
    onClose: (callback) => {
      const previous = gone;
      gone = () => {
        previous();
        callback();
      };
    },
  };
  body.start(sink);
  await new Promise((resolve) => setImmediate(resolve));
  gone();
}

function bytesOf({ body }: Answer): Uint8Array {
  assert.ok(!isStreaming(body));
  return Array.isArray(body) ? Buffer.concat(body as Uint8Array[]) : (body as Uint8Array);
}

const textOf = (answer: Answer): string => Buffer.from(bytesOf(answer)).toString();

/** Returns enough to understand a failure; the seed reproduces the rest. */
export function describe({ method, target, headers, body }: HostileRequest): string {
  const text = body === undefined ? '' : ` ${Buffer.from(body).toString('latin1').slice(0, 400)}`;
  return `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}${text}`;
}
