/** Reviews of API servers and their responses, for tests without a socket. */

import type { JsonObject } from '@hangar/api/json';
import { defineKind } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import type { WebhookAnswer, WebhookRequest } from '../endpoint.ts';

export interface Widget extends ApiObject {
  spec?: { size?: number; colour?: string; parts?: { name: string; count?: number }[] };
}

export const Widget: Kind<Widget> = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
  isNamespaced: true,
});

export const widget = (spec: object = { size: 1 }, metadata: object = {}): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec,
});

export const admissionReview = (operation: string, request: object = {}): JsonObject => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: '1f6e',
    kind: { group: 'example.com', version: 'v1', kind: 'Widget' },
    resource: { group: 'example.com', version: 'v1', resource: 'widgets' },
    name: 'a',
    namespace: 'default',
    operation,
    userInfo: { username: 'someone', groups: ['system:authenticated'] },
    object: null,
    oldObject: null,
    dryRun: false,
    options: null,
    ...request,
  },
});

/** Returns the POST request of a review. */
export const posted = (target: string, body: unknown, more: Partial<WebhookRequest> = {}): WebhookRequest => ({
  method: 'POST',
  target,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body)),
  ...more,
});

export interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly details?: object;
  };
  readonly patch?: readonly object[];
  readonly patchType?: string;
  readonly warnings?: readonly string[];
}

/** Returns the response of an answer with its patch decoded. */
export function responseOf({ status, body }: WebhookAnswer): Response {
  if (status !== 200) throw new Error(`answered ${status}: ${body.toString()}`);
  const { response } = JSON.parse(body.toString()) as { response: Response & { patch?: string } };
  if (response.patch === undefined) return response;
  return { ...response, patch: JSON.parse(Buffer.from(response.patch, 'base64').toString()) as object[] };
}
