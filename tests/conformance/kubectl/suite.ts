/**
 * Every case of `cases/` against the real kube-apiserver and against control planes of Hangar, with one kubectl: stdout, stderr and exit
 * code of each step are equal but for `normalise.ts`. The real server runs each case once, for all of them.
 *
 * HANGAR_CONFORMANCE_ONLY=text     only cases whose file or name contains it
 * HANGAR_CONFORMANCE_SUBJECT=real  a second real server instead of Hangar: shows which case is not deterministic
 * HANGAR_CONFORMANCE_REPORT=file   writes the differences there too
 */

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { tool } from '../../../tools/tool.ts';
import type { ToolName } from '../../../tools/tool.ts';
import { readKubeconfig, startHangar, startReal } from '../servers/index.ts';
import type { ControlPlane } from '../servers/index.ts';
import { differences, surprises } from './difference.ts';
import { runCase } from './run-case.ts';
import type { Ground } from './run-case.ts';
import { parseCases } from './script.ts';
import type { Case, Step } from './script.ts';

/** Their output depends on every object of the server: they run first, one at a time. */
const alone = 'whole-server';
/** Installed once, and waited for, because a real server takes seconds to serve a new kind. */
const fixture: readonly Step[] = [
  'kubectl create -f widgets-crd.yaml',
  'kubectl wait --for=condition=Established crd/widgets.conformance.example.com',
  'eventually kubectl get widgets',
  'eventually kubectl explain widgets.spec.size',
  'eventually kubectl explain widgets.spec --api-version=conformance.example.com/v1beta1',
].map((command) => ({ command, fails: false }));

const casesFolder = new URL('cases/', import.meta.url);

interface PlannedCase {
  readonly file: string;
  readonly one: Case;
  readonly namespace: string;
}

/** Starts the control planes that are compared with the real server, by name. */
export type Subjects = Readonly<Record<string, () => Promise<ControlPlane>>>;

export const managementPlane: Subjects = { 'the management plane': () => startHangar() };
export const tenant: Subjects = { 'a tenant': () => startHangar([], { inTenant: true }) };

export async function conformance(kubectl: ToolName, hangars: Subjects = managementPlane): Promise<void> {
  const planned = await plan();
  const grounds: Ground[] = [];
  const subjects = process.env['HANGAR_CONFORMANCE_SUBJECT'] === 'real' ? { 'a real server': startReal } : hangars;

  before(async () => {
    const started = await Promise.allSettled([startReal, ...Object.values(subjects)].map((start) => start()));
    const planes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const plane of planes) grounds.push(await prepare(plane, kubectl));
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    await Promise.all(grounds.map((ground) => furnish(ground, planned)));
  });
  after(async () => {
    await Promise.all(
      grounds.map(async ({ plane, folder }) => {
        await plane.stop();
        await rm(folder, { recursive: true, force: true });
      }),
    );
  });

  const compare = async (t: TestContext, { file, one, namespace }: PlannedCase): Promise<void> => {
    const [real, ...ours] = await Promise.all(grounds.map((ground) => runCase(ground, one, namespace)));
    const unexpected = surprises(one.steps, real!);
    if (unexpected.length > 0) report(kubectl, `${file}: ${one.name}`, unexpected);
    assert.ok(unexpected.length === 0, `\n${unexpected.join('\n\n')}`);
    for (const [index, subject] of Object.keys(subjects).entries()) {
      await t.test(subject, () => {
        const found = differences(one.steps, real!, ours[index]!);
        if (found.length > 0) report(kubectl, `${file}: ${one.name}: ${subject}`, found);
        assert.ok(found.length === 0, `- real, + Hangar\n${found.join('\n\n')}`);
      });
    }
  };
  for (const first of [true, false]) {
    describe(first ? 'the whole server' : 'side by side', { concurrency: first ? 1 : 4 }, () => {
      for (const one of planned.filter(({ file }) => (file === alone) === first)) {
        test(`${one.file}: ${one.one.name}`, (t) => compare(t, one));
      }
    });
  }
}

async function plan(): Promise<PlannedCase[]> {
  const only = process.env['HANGAR_CONFORMANCE_ONLY'] ?? '';
  const planned: PlannedCase[] = [];
  for (const name of (await readdir(casesFolder)).sort()) {
    const file = basename(name, '.sh');
    const cases = parseCases(await readFile(new URL(name, casesFolder), 'utf8'));
    for (const [index, one] of cases.entries()) {
      if (`${file}: ${one.name}`.includes(only)) planned.push({ file, one, namespace: `${file}-${index + 1}` });
    }
  }
  if (planned.length === 0) throw new Error(`no case matches ${only}`);
  return planned;
}

async function prepare(plane: ControlPlane, kubectl: ToolName): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-kubectl-'));
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await symlink(await tool(kubectl), join(bin, 'kubectl'));
  return { plane, kubeconfig: await readKubeconfig(plane.kubeconfig), folder, bin };
}

async function furnish(ground: Ground, planned: readonly PlannedCase[]): Promise<void> {
  const namespaces = planned.map(({ namespace: name }) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: namespaces });
  const steps = [{ command: `kubectl create -f - <<'END'\n${list}\nEND`, fails: false }, ...fixture];
  const outcomes = await runCase(ground, { name: 'fixture', steps }, 'default');
  const unexpected = surprises(steps, outcomes);
  assert.ok(unexpected.length === 0, `${ground.plane.name}: ${unexpected.join('\n')}`);
}

function report(kubectl: ToolName, name: string, found: readonly string[]): void {
  const file = process.env['HANGAR_CONFORMANCE_REPORT'];
  if (file === undefined) return;
  appendFileSync(file, `\n## ${kubectl}: ${name}\n\n\`\`\`\n${found.join('\n\n')}\n\`\`\`\n`);
}
