import assert from 'node:assert/strict';
import { test } from 'node:test';
import { it, testWorld } from '../testing.ts';
import { environment, variableOf } from './environment.ts';

test('the variable is named after the program', () => {
  assert.equal(variableOf('kube-apiserver'), 'HANGAR_TOOL_KUBE_APISERVER');
  assert.equal(variableOf('kubectl-1.32'), 'HANGAR_TOOL_KUBECTL_1_32');
});

test('a named program is used even if it does not tell its version', async (context) => {
  const world = await testWorld(context, { run: () => ({ failure: 'exit code 1' }) });
  const path = await world.install('mine');
  world.env['HANGAR_TOOL_IT'] = path;
  assert.deepEqual(await environment.attempt(it, world), {
    path,
    version: 'unknown',
    from: 'environment (HANGAR_TOOL_IT)',
  });
});

test('a name that leads nowhere ends the search', async (context) => {
  const world = await testWorld(context);
  world.env['HANGAR_TOOL_IT'] = '/no/such/file';
  assert.deepEqual(await environment.attempt(it, world), {
    reason: 'HANGAR_TOOL_IT is /no/such/file, and there is no executable file',
    final: true,
  });
});
