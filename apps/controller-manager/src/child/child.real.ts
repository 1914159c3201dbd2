/** Runs the real kube-controller-manager as a program, with an unreachable server. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tool } from '../../../../tools/tool.ts';
import type { Place } from './contract.ts';
import { isRunning, until } from './testing/processes.ts';
import { testPrograms } from './testing/programs.ts';

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{ name: it, cluster: { server: "https://127.0.0.1:9" } }]
users: [{ name: it, user: { token: "none" } }]
contexts: [{ name: it, context: { cluster: it, user: it } }]
current-context: it
`;

const flags = ({ folder, port }: Place): string[] => [
  `--kubeconfig=${folder}/kubeconfig`,
  '--leader-elect=false',
  `--secure-port=${port}`,
  '--bind-address=127.0.0.1',
  `--cert-dir=${folder}/certs`,
];

test('kube-controller-manager gives up and says why, or ends when it is told to; nothing is left of either', async (context) => {
  const executable = await tool('kube-controller-manager', { log: console.log });
  const { start, lines, workDir } = testPrograms(context);
  const options = { executable, argv0: 'hangar-controller-manager.peer', arguments: flags, files: { kubeconfig } };
  const [lonely, stopped] = await Promise.all([
    start('', options),
    start('', { ...options, cluster: 'two', memoryLimitBytes: 512 << 20 }),
  ]);
  const serves = (cluster: string, { port }: Place): boolean =>
    lines.some(
      (line) => line.startsWith(`[${cluster}/controllers] `) && line.includes(`Serving securely on 127.0.0.1:${port}`),
    );
  await until(() => serves('one', lonely) && serves('two', stopped), 15_000, 'both serve');
  assert.ok(existsSync(join(stopped.folder, 'certs')));

  const fromMs = performance.now();
  await stopped.stop(3_000);
  context.diagnostic(
    `${JSON.stringify(await stopped.ended)} ${Math.round(performance.now() - fromMs)} ms after it was told`,
  );
  assert.equal((await stopped.ended).cause, 'stopped');
  assert.ok(!isRunning(stopped.pid));
  assert.ok(isRunning(lonely.pid));

  const { cause, code, lastError } = await lonely.ended;
  assert.deepEqual({ cause, code }, { cause: 'exited', code: 1 });
  assert.match(lastError!, /^"command failed" err=.*connection refused/);
  assert.deepEqual(readdirSync(join(workDir, 'children')), []);
});
