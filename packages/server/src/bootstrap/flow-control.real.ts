/** Priority levels and flow schemas are those of a real kube-apiserver, managed fields and tables included. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';
import { priorityLevels } from './flow-control.ts';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** Ages, and the descriptions of columns, which clients never show. */
const untold = (path: string): string[] => {
  const age = path.endsWith('flowschemas') ? 4 : 6;
  const columns = Array.from({ length: 7 }, (_, at) => `columnDefinitions.${at}.description`);
  return [...columns, ...Array.from({ length: 11 }, (_, at) => `rows.${at}.cells.${age}`)];
};

test('a new control plane has the priority levels and flow schemas of a real one', async () => {
  await using real = await startRealServer();
  await using hangar = await startInProcess();
  // The condition of each schema is written slightly later.
  for (let isSettled = false; !isSettled;) {
    const { items } = JSON.parse((await real.request('GET', `${group}/flowschemas`)).body.toString()) as {
      items: { status: object }[];
    };
    isSettled = items.length > 0 && items.every(({ status }) => 'conditions' in status);
  }
  const paths = ['flowschemas', 'prioritylevelconfigurations'].map((name) => `${group}/${name}`);
  const differences = await compareServers(real, hangar, [
    ...paths.map((path) => ({ method: 'GET', path })),
    ...paths.map((path) => ({ method: 'GET', path, accept: table, ignore: untold(path) })),
    ...priorityLevels().map(({ metadata }) => ({ method: 'GET', path: `${paths[1]}/${metadata.name}` })),
  ]);
  assert.deepEqual(differences, []);
});
