/**
 * Every check of the Go program of this folder against the real kube-apiserver, which shows that the check is right, and
 * against Hangar. Informers are checked twice: as they start by default, with a stream of initial events (WatchList), and
 * as clients before 1.35 did, with a list.
 *
 * HANGAR_CONFORMANCE_ONLY=text  only checks whose name contains it
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { run } from '../../../tools/run.ts';
import type { RunResult } from '../../../tools/run.ts';
import { startHangar, startReal } from '../servers/index.ts';
import type { ControlPlane } from '../servers/index.ts';
import { ownProgram } from '../../../tools/own-program.ts';

const runTimeoutMs = 4 * 60_000;
const chosen = process.env['HANGAR_CONFORMANCE_ONLY'] ?? '';

const program = await ownProgram({ name: 'client-go-conformance', folder: import.meta.dirname }, console.log);
const variants = await Promise.all([
  variant({ title: '', filter: chosen, watchList: true }),
  variant({ title: ' (list first)', filter: 'informers:', watchList: false }),
]);

interface Variant {
  /** Added to the name of a check. */
  readonly title: string;
  readonly filter: string;
  readonly watchList: boolean;
  readonly checks: readonly string[];
}

async function variant(wanted: Omit<Variant, 'checks'>): Promise<Variant> {
  const { stdout, stderr, failure } = await run(program, ['--list', `--only=${wanted.filter}`], { timeoutMs: 10_000 });
  if (failure !== undefined) throw new Error(`--list: ${failure}: ${stderr}`);
  const checks = stdout.split('\n').filter((name) => name !== '' && name.includes(chosen));
  return { ...wanted, checks };
}

/** The lines that the program prints, `ok name…` or `FAIL name: why`, by check. */
function outcomes(checks: readonly string[], { stdout, stderr, failure }: RunResult): Map<string, string> {
  const lines = stdout.split('\n');
  const missing = `no line of it; the program ended with ${failure ?? 'success'}: ${stderr.slice(-2000)}`;
  return new Map(
    checks.map((check) => {
      const prefixes = [`ok ${check}\t`, `FAIL ${check}: `];
      return [check, lines.find((line) => prefixes.some((prefix) => line.startsWith(prefix))) ?? missing];
    }),
  );
}

for (const [name, startServer] of Object.entries({ 'kube-apiserver': startReal, Hangar: startHangar })) {
  describe(name, () => {
    let plane: ControlPlane | undefined;
    before(async () => {
      plane = await startServer();
    });
    after(() => plane?.stop());

    for (const { title, filter: part, watchList, checks } of variants) {
      describe(`${name}${title}`, () => {
        let results = new Map<string, string>();
        before(async () => {
          const result = await run(program, [`--kubeconfig=${plane!.kubeconfig}`, `--only=${part}`], {
            timeoutMs: runTimeoutMs,
            env: { ...process.env, KUBE_FEATURE_WatchListClient: String(watchList) },
          });
          results = outcomes(checks, result);
        });
        for (const check of checks) {
          test(`${check}${title}`, () => {
            const line = results.get(check)!;
            assert.ok(line.startsWith('ok '), line.replaceAll(' | ', '\n'));
          });
        }
      });
    }
  });
}
