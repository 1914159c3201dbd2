/** Helpers for the requests of admission tests, each sent to both servers. */

import type { Step } from '../../../testing/both-servers.ts';

type Rest = Omit<Step, 'method' | 'path' | 'body'>;

export const post = (path: string, body: object, rest: Rest = {}): Step => ({ method: 'POST', path, body, ...rest });
export const put = (path: string, body: object, rest: Rest = {}): Step => ({ method: 'PUT', path, body, ...rest });
export const get = (path: string, rest: Rest = {}): Step => ({ method: 'GET', path, ...rest });
export const remove = (path: string, rest: Rest = {}): Step => ({ method: 'DELETE', path, ...rest });
export const merge = (path: string, body: object, rest: Rest = {}): Step => ({
  method: 'PATCH',
  path,
  body,
  contentType: 'application/merge-patch+json',
  ...rest,
});

export const namespace = (name: string, labels: object = {}): Step =>
  post('/api/v1/namespaces', { metadata: { name, labels } });

export const container = (name: string, rest: object = {}): object => ({ name, image: 'image', ...rest });

/** A pod without a service account token, whose volume has a random name. */
export const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { automountServiceAccountToken: false, containers: [container('c')], ...spec },
});

export const inNamespace = (name: string, resource: string): string => `/api/v1/namespaces/${name}/${resource}`;
