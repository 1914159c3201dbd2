import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platformCommands } from '../../../apps/cli/src/platform-commands.ts';
import { generateReference, referenceProblems } from './files.ts';

test('the reference is what would be generated now', async () => {
  assert.deepEqual(await referenceProblems(), []);
});

test('it has every kind, every command, and flags with their meaning', () => {
  const files = generateReference();
  const kinds = files.get('docs/reference/kinds.md')!;
  for (const kind of [
    'ControlPlane',
    'ControlPlaneClass',
    'ControlPlaneEndpoint',
    'ControlPlaneRegistration',
    'Tenant',
  ]) {
    assert.match(kinds, new RegExp(`^## ${kind}$`, 'm'));
  }
  assert.match(kinds, /^\| `spec\.virtual\.clusterPath` \| string \| .*Immutable/m);
  const commands = files.get('docs/reference/commands.md')!;
  const served = platformCommands.map(({ name }) => name);
  for (const command of [...served, 'create', 'kubeconfig', 'doctor']) {
    assert.match(commands, new RegExp(`^## hangar ${command}$`, 'm'));
  }
  assert.doesNotMatch(commands, /repeated.*repeated/);
  assert.match(commands, /^\| `--data-dir DIR` \| .+ \|$/m);
});
