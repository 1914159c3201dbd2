/** Checks that every response is a success or a well-formed Status with a client error code. */

import assert from 'node:assert/strict';
import { decodeProtobuf, isObject, parseYaml } from '@hangar/api';

/** 504 is for future revisions, as in kube-apiserver. */
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
  // Unknown path: the plain-text response of the router, as in kube-apiserver.
  if (contentType.startsWith('text/plain')) return assert.equal(status, 404);
  const value = decoded(contentType, body);
  assert.ok(isObject(value), `${status} without an object: ${Buffer.from(body).toString().slice(0, 500)}`);
  const { apiVersion, kind, status: outcome, code, message, reason } = value;
  assert.deepEqual(
    { apiVersion, kind, outcome, code },
    { apiVersion: 'v1', kind: 'Status', outcome: 'Failure', code: status },
  );
  assert.ok(typeof message === 'string' && message !== '', 'a refusal without a word');
  // kube-apiserver returns 500 without a reason for some client errors, and so must this server.
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

/** Checks that no property was added to the built-in prototypes. */
export function checkPrototypes(): void {
  for (const [at, one] of prototypes.entries()) {
    assert.equal(
      Reflect.ownKeys(one).length,
      asTheyWere[at],
      `a prototype was changed: ${Reflect.ownKeys(one).map(String).join()}`,
    );
  }
}
