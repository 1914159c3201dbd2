/** Helpers for tests with service account tokens: accounts, issued tokens and forged tokens. */

import type { JsonObject } from '@hangar/api';
import type { Data, TestServer } from '../../testing/test-server.ts';

export const accounts = '/api/v1/namespaces/default/serviceaccounts';
export const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

export const account = (name: string): Data => ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name } });

export async function createAccount(server: TestServer, name = 'robot'): Promise<Data> {
  return server.create(accounts, account(name));
}

export async function requestToken(server: TestServer, spec: object = {}, name = 'robot'): Promise<Data> {
  return server.create(`${accounts}/${name}/token`, { spec });
}

export async function tokenOf(server: TestServer, spec: object = {}, name = 'robot'): Promise<string> {
  return (await requestToken(server, spec, name)).status.token as string;
}

/** Returns the user of the token according to the server; undefined: 401. */
export async function whoIs(server: TestServer, token: string): Promise<Data> {
  const { status, data } = await server.request('POST', selfReviews, { token, body: {} });
  return status === 401 ? undefined : (data.status?.userInfo ?? data);
}

export async function review(server: TestServer, token: string, audiences?: readonly string[]): Promise<Data> {
  return (await server.create(tokenReviews, { spec: { token, audiences } })).status;
}

export const partsOf = (token: string): [head: JsonObject, claims: JsonObject, signature: string] => {
  const [head = '', claims = '', signature = ''] = token.split('.');
  return [decoded(head), decoded(claims), signature];
};

const decoded = (part: string): JsonObject => JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject;

export const encodedPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const pod = (name: string, serviceAccountName: string, nodeName?: string): Data => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name },
  spec: { serviceAccountName, containers: [{ name: 'c', image: 'i' }], ...(nodeName ? { nodeName } : {}) },
});
