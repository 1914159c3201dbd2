/** `hangar migrate NAME --to MODE`: moves a control plane between the modes while it is used. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Call, Command, Given } from '../command.ts';
import type { TenantUsage } from '../control-planes/about.ts';
import { findControlPlane } from '../control-planes/find.ts';
import { completeSteps, migrationEnd, planText } from '../control-planes/migration.ts';
import { waitFor } from '../control-planes/wait.ts';
import { failed, usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import { activeMigration, clusterPathOf, ControlPlane, servingMode, Tenant } from '../kinds.ts';
import type { ControlPlaneObject, Mode, TenantObject } from '../kinds.ts';
import type { Session } from '../session.ts';
import { plain, quoted } from '../terminal/plain-text.ts';
import { printed } from '../terminal/printed.ts';
import { Progress } from '../terminal/progress.ts';
import { timeoutMs, timeoutOption } from './common/timeout.ts';

const waitMs = 60 * 60_000;

export const migrate: Command = {
  name: 'migrate',
  summary: 'move a control plane between the modes virtual and dedicated while it is used',
  description:
    'The data, its revisions, the address, the kubeconfigs and the credentials of the control plane stay. Requests wait, usually for less than a second, when the new side takes over. The command waits until then; the old data is deleted later, after the grace period in spec.migration. --abort returns to the old side before the switch; --rollback migrates back after it.',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    {
      name: 'to',
      value: 'MODE',
      meaning: 'virtual: in the shared API server; dedicated: a separate etcd and kube-apiserver',
      oneOf: ['virtual', 'dedicated'],
      completes: ['virtual', 'dedicated'],
    },
    { name: 'plan', meaning: 'print the steps of the migration, and change nothing' },
    { name: 'abort', meaning: 'end the current migration before the switch' },
    { name: 'rollback', meaning: 'migrate back to the mode before the last migration' },
    { name: 'wait', isOn: true, meaning: 'do not wait for the switch' },
    { ...timeoutOption, meaning: 'time to wait, such as 90s, 5m or 1h (default: 1h)' },
    {
      name: 'output',
      short: 'o',
      value: 'FORMAT',
      meaning: 'json or yaml: print the control plane',
      oneOf: ['json', 'yaml'],
      completes: ['json', 'yaml'],
    },
  ],
  examples: [
    'migrate shop --to dedicated --plan',
    'migrate shop --to dedicated',
    'migrate shop --abort',
    'migrate shop --rollback',
  ],
  isConnected: true,
  run: migrateNow,
};

async function migrateNow({ session, given, client: connected }: Call): Promise<void> {
  checkOptions(given);
  const limitMs = timeoutMs(given, waitMs);
  const client = await connected();
  const plane = await findControlPlane(client, given.args[0]!, session.signal);
  const to = wantedMode(plane, given);
  if (given.flag('plan')) {
    session.out.write(planText(plane, to, await usageOf(client, plane, session.signal)));
    return;
  }
  const changed = await changeMode(client, plane, to, session.signal);
  const isAbort = given.flag('abort');
  const last = given.flag('wait')
    ? await (isAbort ? untilAborted : untilSwitched)(client, { session, plane: changed, to, limitMs })
    : changed;
  const format = given.text('output');
  if (format !== undefined) {
    session.out.write(printed(format as 'json' | 'yaml', [last], { isList: false }));
    return;
  }
  session.out.write(`${resultText(last, to, { isAbort, isWaited: given.flag('wait') })}\n`);
}

/** Throws `Usage`. */
function checkOptions(given: Given): void {
  const chosen = ['to', 'abort', 'rollback'].filter((option) => given.has(option));
  if (chosen.length !== 1) throw usage('set one of --to MODE, --abort and --rollback');
  if (given.flag('plan') && given.flag('abort')) throw usage('--plan and --abort cannot be used together');
}

/** Throws `Failed` if there is nothing to do. */
function wantedMode(plane: ControlPlaneObject, given: Given): Mode {
  const name = plane.metadata.name!;
  const active = activeMigration(plane);
  const last = plane.status?.migration;
  if (given.flag('abort')) {
    if (active && active.outcome === undefined) return active.from;
    const next =
      last?.outcome === 'Switched'
        ? `it has switched; to migrate back: ${hangar(`migrate ${name} --rollback`)}`
        : undefined;
    throw failed(
      `control plane ${quoted(name)} has no migration that can be aborted`,
      next === undefined ? {} : { next },
    );
  }
  if (given.flag('rollback')) {
    if (last?.outcome === 'Switched') return last.from;
    const next = active ? `it has not switched; to abort it: ${hangar(`migrate ${name} --abort`)}` : undefined;
    throw failed(
      `control plane ${quoted(name)} has no migration that can be rolled back`,
      next === undefined ? {} : { next },
    );
  }
  const to = given.text('to') === 'dedicated' ? 'Dedicated' : 'Virtual';
  if (servingMode(plane) === to && !active && (plane.spec?.mode ?? 'Virtual') === to) {
    throw failed(`control plane ${quoted(name)} has mode ${to} already`);
  }
  return to;
}

/** The condition on the resourceVersion prevents that an abort becomes a rollback, when the switch happens at the same time. */
async function changeMode(
  client: Client,
  plane: ControlPlaneObject,
  mode: Mode,
  signal: AbortSignal,
): Promise<ControlPlaneObject> {
  const { uid, resourceVersion, name } = plane.metadata;
  if ((plane.spec?.mode ?? 'Virtual') === mode) return plane;
  const spec = { mode, ...(mode === 'Virtual' && plane.spec?.dedicated ? { dedicated: null } : {}) };
  const body = { metadata: { uid, resourceVersion }, spec };
  try {
    return await client.patch(ControlPlane, { name: name! }, { type: 'merge', body }, { signal });
  } catch (error) {
    if (!hasCode(error, 'Conflict')) throw error;
    throw failed(`control plane ${quoted(name!)} has changed meanwhile: nothing was done`, {
      next: `see: ${hangar(`describe ${name}`)}\nand run the command again`,
      cause: error,
    });
  }
}

async function usageOf(
  client: Client,
  plane: ControlPlaneObject,
  signal: AbortSignal,
): Promise<TenantUsage | undefined> {
  const key = { name: clusterPathOf(plane) };
  // Not known for a dedicated control plane, or without the permission.
  const answer = client.subresource('usage').get<TenantUsage, TenantObject>(Tenant, key, { signal });
  return answer.catch(() => undefined);
}

interface WaitOptions {
  readonly session: Session;
  readonly plane: ControlPlaneObject;
  readonly to: Mode;
  readonly limitMs: number;
}

/** Prints a line for each step that is complete, with its time. */
async function untilSwitched(client: Client, options: WaitOptions): Promise<ControlPlaneObject> {
  const { to, session } = options;
  const shown = new Set<string>();
  let sinceMs = session.clock.monotonicMs();
  return untilState(client, options, (plane, progress) => {
    const end = migrationEnd(plane, to);
    const { migration } = plane.status ?? {};
    if (migration?.to === to) {
      const isDone = end?.type === 'Switched';
      for (const step of [
        ...completeSteps(migration),
        ...(isDone && migration.step === 'Registrations' ? ['Registrations'] : []),
      ]) {
        if (shown.has(step)) continue;
        shown.add(step);
        const nowMs = session.clock.monotonicMs();
        progress.end();
        session.err.write(`${step.padEnd(14)} ${((nowMs - sinceMs) / 1_000).toFixed(1)} s\n`);
        sinceMs = nowMs;
      }
      if (!isDone && migration.message) progress.say(`${migration.step}: ${migration.message}`);
    }
    if (end?.type === 'Refused') {
      throw failed(`control plane ${quoted(plane.metadata.name!)} is not migrated: ${end.message}`, {
        next: `it works as before; to undo the request: ${hangar(`migrate ${plane.metadata.name} --to ${to === 'Dedicated' ? 'virtual' : 'dedicated'}`)}`,
      });
    }
    return end !== undefined;
  });
}

function untilAborted(client: Client, options: WaitOptions): Promise<ControlPlaneObject> {
  const { id } = options.plane.status!.migration!;
  return untilState(
    client,
    options,
    ({ status }) => status?.migration?.id !== id || status?.migration?.outcome !== undefined,
  );
}

async function untilState(
  client: Client,
  { session, plane, limitMs }: WaitOptions,
  isDone: (plane: ControlPlaneObject, progress: Progress) => boolean,
): Promise<ControlPlaneObject> {
  const { clock, signal } = session;
  const name = plane.metadata.name!;
  const progress = new Progress(session.err, clock);
  let last = plane;
  try {
    progress.say(`waiting for the migration of control plane ${name}`);
    const isInTime = await waitFor(client, ControlPlane, {
      name,
      clock,
      timeoutMs: limitMs,
      signal,
      onBroken: () => progress.say('the server does not answer, retrying'),
      isDone: (object) => {
        if (!object) throw failed(`control plane ${quoted(name)} was deleted during the migration`);
        last = object;
        return isDone(object, progress);
      },
    });
    if (isInTime) return last;
    throw failed(`timed out after ${limitMs / 1_000} s waiting for the migration of control plane ${quoted(name)}`, {
      next: `the migration continues; see: ${hangar(`describe ${name}`)}\nto return to the old side: ${hangar(`migrate ${name} --abort`)}`,
    });
  } finally {
    progress.end();
  }
}

function resultText(
  { metadata, status }: ControlPlaneObject,
  to: Mode,
  { isAbort, isWaited }: { readonly isAbort: boolean; readonly isWaited: boolean },
): string {
  const name = plain(metadata.name!);
  const { migration } = status ?? {};
  if (isAbort) {
    const isAborted = migration?.outcome === 'Aborted';
    return isAborted || isWaited
      ? `the migration of control plane ${name} was aborted: it has mode ${to}`
      : `aborting the migration of control plane ${name}`;
  }
  if (!isWaited) return `control plane ${name} is migrated to mode ${to}; see: ${hangar(`describe ${name}`)}`;
  const pause = migration?.pauseMs === undefined ? '' : `; requests waited for ${migration.pauseMs} ms`;
  return `control plane ${name} has mode ${to}${pause}`;
}
