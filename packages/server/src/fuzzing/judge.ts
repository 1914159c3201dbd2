/** What every answer must be, whatever was asked: a success, or a well-formed Status with a code that names a client's fault. */

import assert from 'node:assert/strict';
import { decodeProtobuf, isObject, parseYaml } from '@hangar/api';

/** 504 is for revisions that have not been yet, as kube-apiserver answers them. */
const refusals = new Set([400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 504]);

export interface Judged {
  readonly method: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export function judge({ method, status, contentType, body }: Judged): void {
  if (status < 300) return;
  if (status === 304) return assert.equal(body.length, 0);
  if (method === 'HEAD') return assert.ok(refusals.has(status), `the answer is ${status}`);
  // A path that is none: the router's answer, as kube-apiserver's.
  if (contentType.startsWith('text/plain')) return assert.equal(status, 404);
  const value = decoded(contentType, body);
  assert.ok(isObject(value), `${status} without an object: ${Buffer.from(body).toString().slice(0, 500)}`);
  const { apiVersion, kind, status: outcome, code, message, reason } = value;
  assert.deepEqual(
    { apiVersion, kind, outcome, code },
    { apiVersion: 'v1', kind: 'Status', outcome: 'Failure', code: status },
  );
  assert.ok(typeof message === 'string' && message !== '', 'a refusal without a word');
  // Some faults of clients kube-apiserver never classified: it answers 500 without a reason, and so must we.
  const isProper = refusals.has(status) || (status === 500 && reason === undefined);
  assert.ok(isProper, `the answer is ${status}: ${message.slice(0, 500)}`);
}

function decoded(contentType: string, body: Uint8Array): unknown {
  switch (contentType) {
    case 'application/json':
      return JSON.parse(Buffer.from(body).toString());
    case 'application/yaml':
      return parseYaml(body).value;
    default:
      return decodeProtobuf(body, { apiVersion: 'v1', kind: 'Status' });
  }
}

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const asTheyWere = prototypes.map((one) => Reflect.ownKeys(one).length);

/** Nobody added to what all objects share. */
export function checkPrototypes(): void {
  for (const [at, one] of prototypes.entries()) {
    assert.equal(
      Reflect.ownKeys(one).length,
      asTheyWere[at],
      `a prototype was changed: ${Reflect.ownKeys(one).map(String).join()}`,
    );
  }
}
