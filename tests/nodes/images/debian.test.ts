import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSimulation } from './debian.ts';

test('the packages of a simulated installation are those that apt would unpack', () => {
  const output = `NOTE: This is only a simulation!
Reading package lists...
The following NEW packages will be installed:
  dash libc6
Inst libc6 (2.36-9 Debian:12/stable [amd64]) []
Inst dash (0.5.12-2 Debian:12/stable [amd64])
Conf libc6 (2.36-9 Debian:12/stable [amd64])
Conf dash (0.5.12-2 Debian:12/stable [amd64])
`;
  assert.deepEqual(parseSimulation(output), ['libc6', 'dash']);
});
