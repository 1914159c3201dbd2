import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '@hangar/api';
import { cpuTime } from '@hangar/core/testing';
import { requestInfo } from './info.ts';

const told = (method: string, path: string, isWatch = false): string => {
  const info = requestInfo(method, path, isWatch);
  if (!info.isResource) return `${info.verb} the path ${info.path}`;
  const { verb, group, version, resource, namespace, name, subresource, rest } = info;
  const parts = [resource, name, subresource, rest].join(' ').trimEnd();
  return `${verb} ${group || 'core'}/${version}${namespace === '' ? '' : ` in ${namespace}`}: ${parts}`;
};

describe('what a request is about', () => {
  const cases: [method: string, path: string, expected: string][] = [
    ['GET', '/api/v1/pods', 'list core/v1: pods'],
    ['GET', '/api/v1/namespaces/a/pods', 'list core/v1 in a: pods'],
    ['GET', '/api/v1/namespaces/a/pods/', 'list core/v1 in a: pods'],
    ['GET', '/api/v1/namespaces/a/pods/web', 'get core/v1 in a: pods web'],
    ['HEAD', '/api/v1/namespaces/a/pods/web', 'get core/v1 in a: pods web'],
    ['GET', '/api/v1/namespaces/a/pods/web/status', 'get core/v1 in a: pods web status'],
    ['POST', '/api/v1/namespaces/a/pods/web/proxy/x/y', 'create core/v1 in a: pods web proxy x/y'],
    ['PUT', '/apis/apps/v1/namespaces/a/deployments/web/scale', 'update apps/v1 in a: deployments web scale'],
    ['PATCH', '/apis/apps/v1/namespaces/a/deployments/web', 'patch apps/v1 in a: deployments web'],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments/web', 'delete apps/v1 in a: deployments web'],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments', 'deletecollection apps/v1 in a: deployments'],
    ['POST', '/apis/apps/v1/namespaces/a/deployments', 'create apps/v1 in a: deployments'],
    // A namespace belongs to itself.
    ['GET', '/api/v1/namespaces', 'list core/v1: namespaces'],
    ['GET', '/api/v1/namespaces/a', 'get core/v1 in a: namespaces a'],
    ['GET', '/api/v1/namespaces/a/', 'get core/v1 in a: namespaces a'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update core/v1 in a: namespaces a finalize'],
    ['PUT', '/api/v1/namespaces/a/status', 'update core/v1 in a: namespaces a status'],
    // The old form of a watch.
    ['GET', '/api/v1/watch/pods', 'watch core/v1: pods'],
    ['GET', '/api/v1/watch/namespaces/a/pods', 'watch core/v1 in a: pods'],
    ['GET', '/apis/apps/v1/watch/namespaces/a/deployments/web', 'watch apps/v1 in a: deployments web'],
    ['GET', '/api/v1/watch/namespaces/a', 'watch core/v1 in a: namespaces a'],
    ['GET', '/api/v1/watch', 'list core/v1: watch'],
    // Non-resource paths.
    ['GET', '/', 'get the path /'],
    ['GET', '', 'get the path '],
    ['GET', '/api', 'get the path /api'],
    ['GET', '/api/v1', 'get the path /api/v1'],
    ['GET', '/api/v1/', 'get the path /api/v1/'],
    ['GET', '/apis/apps/v1', 'get the path /apis/apps/v1'],
    ['GET', '/apis/apps/v1/', 'get the path /apis/apps/v1/'],
    ['GET', '/apis/apps', 'get the path /apis/apps'],
    ['POST', '/version', 'post the path /version'],
    ['GET', '/API/v1/pods', 'get the path /API/v1/pods'],
    ['GET', 'http://host/api/v1/pods', 'get the path http://host/api/v1/pods'],
    ['OPTIONS', '*', 'options the path *'],
    // Names are decoded once; the key validates them.
    ['GET', '/api/v1/namespaces/%61/pods/we%62', 'get core/v1 in a: pods web'],
    ['GET', '/api/v1/namespaces/a/pods/%252e', 'get core/v1 in a: pods %2e'],
    ['GET', '/api/v1/namespaces/a%2fb/pods/c%2Fd', 'get core/v1 in a/b: pods c/d'],
    ['GET', '/api/v1/namespaces/a/../b/pods', 'get core/v1 in a: .. b pods'],
    // Resource names are not decoded.
    ['GET', '/api/v1/%6eamespaces/a/pods', 'get core/v1: %6eamespaces a pods'],
  ];
  for (const [method, path, expected] of cases) {
    test(`${method} ${path} is ${expected}`, () => assert.equal(told(method, path), expected));
  }
});

test('a query that asks for a watch makes one of a list, not of one object', () => {
  assert.equal(told('GET', '/api/v1/pods', true), 'watch core/v1: pods');
  assert.equal(told('GET', '/api/v1/namespaces/a/pods/web', true), 'get core/v1 in a: pods web');
  assert.equal(told('DELETE', '/api/v1/namespaces/a/pods', true), 'deletecollection core/v1 in a: pods');
});

test('a method is no verb, even if it is spelled like one', () => {
  for (const method of ['LIST', 'list', 'create', 'Delete', 'deletecollection', 'TRACE', 'OPTIONS', '']) {
    const info = requestInfo(method, '/api/v1/pods', false);
    assert.equal(info.verb, '', method);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    assert.equal(requestInfo(method, '/api/v1/watch/namespaces/a/pods', false).verb, '', method);
  }
});

test('escapes that are none are refused', () => {
  for (const path of ['/api/v1/pods/%', '/api/v1/pods/%zz', '/api/v1/namespaces/%ff/pods', '/api/v1/pods/a/%c0%af']) {
    assert.throws(
      () => requestInfo('GET', path, false),
      (error) => error instanceof StatusError && error.status.code === 400,
    );
  }
});

test('a path of many segments takes no time', () => {
  const takenMs = cpuTime();
  requestInfo('GET', `/api/v1/namespaces/a/pods${'/x'.repeat(30_000)}`, false);
  assert.ok(takenMs() < 1_000);
});
