import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestInfo } from '../request/info.ts';
import { insistOnActive } from './suspension.ts';
import type { Suspension, Tenant } from './tenant.ts';

const insist = (suspension: Suspension | undefined, method: string, path: string) => () =>
  insistOnActive({ path: 'demo', spec: { suspension } } as unknown as Tenant, requestInfo(method, path, false), true);

const pod = '/api/v1/namespaces/default/pods/web';

test('to reads: what is read is answered, and what leads to where anything can be done is not', () => {
  for (const path of [pod, `${pod}/log`, `${pod}/status`, '/api/v1/pods', '/version'])
    insist('ReadOnly', 'GET', path)();
  insist('ReadOnly', 'POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews')();
  for (const path of [
    `${pod}/exec`,
    `${pod}/attach`,
    `${pod}/portforward`,
    `${pod}/proxy/`,
    '/api/v1/namespaces/default/services/web/proxy/admin',
    '/api/v1/nodes/one/proxy/run',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      assert.throws(insist('ReadOnly', method, path), { code: 'Forbidden' }, `${method} ${path}`);
      insist(undefined, method, path)();
    }
  }
});

test('to nothing: nothing is answered', () => {
  for (const path of [pod, '/version']) assert.throws(insist('Offline', 'GET', path), { code: 'ServiceUnavailable' });
});

test('a quarantine is explained to authenticated users only', () => {
  const quarantine = { reason: 'ProcessCrash', message: 'patch x by "ada"', since: 'a', until: 'b' };
  const tenant = { path: 'demo', spec: {}, quarantine } as unknown as Tenant;
  const refusal = (isKnown: boolean) => () => insistOnActive(tenant, requestInfo('GET', '/healthz', false), isKnown);
  assert.throws(refusal(true), /by "ada"/);
  assert.throws(refusal(false), { code: 'ServiceUnavailable', message: 'control plane "demo" is quarantined' });
});
