/**
 * The last step of every mode: reports whether the wanted mode serves the control plane, and starts a migration if another one does. The
 * record is written with the status of the pass.
 */

import { uuid } from '@hangar/core';
import { ControlPlane } from '../api/index.ts';
import type { ControlPlaneMode } from '../api/index.ts';
import type { Pass, Remark } from '../control-plane/world.ts';
import { hostedNameLengthMax } from '../dedicated/hosted-control-plane.ts';
import { wantedOf } from '../dedicated/step.ts';
import { hostedReady } from './current-mode.ts';
import { migrationsMax } from './controller.ts';
import { activeRecord, isSwitched, recordOf, startDelayMs, startedRecord } from './record.ts';
import { defaultTimings } from './timings.ts';

const type = 'ModeReached';

export async function modeReached(pass: Pass): Promise<undefined> {
  const { controlPlane, world } = pass;
  const wanted = controlPlane.spec?.mode ?? 'Virtual';
  const last = recordOf(controlPlane);
  if (pass.mode === 'Virtual') pass.withdrawn.push(hostedReady);
  const active = activeRecord(controlPlane);
  if (active && !(isSwitched(active) && active.to === wanted)) {
    const message = `a migration from ${last!.from} to ${last!.to} is in progress: see status.migration`;
    pass.remarks.push(unreached('Migrating', message));
    return;
  }
  if (wanted === pass.mode) {
    if (last) pass.remarks.push({ type, status: true, reason: 'Reached', message: '' });
    else pass.withdrawn.push(type);
    return;
  }
  const fault = await startFault(pass, wanted);
  if (fault) {
    pass.remarks.push(fault);
    return;
  }
  const nowMs = world.clock.now();
  const delayMs = startDelayMs({ wanted, serving: pass.mode, last }, nowMs) ?? 0;
  if (delayMs > 0) {
    pass.wakeUps.push(nowMs + delayMs);
    const why = last?.message ?? 'the last migration was aborted';
    pass.remarks.push(
      unreached('MigrationDelayed', `${why}; the next migration starts at ${new Date(nowMs + delayMs).toISOString()}`),
    );
    return;
  }
  pass.remarks.push(
    unreached('Migrating', `a migration from ${pass.mode} to ${wanted} is in progress: see status.migration`),
  );
  const timings = world.migration!.timings ?? defaultTimings;
  pass.migration = startedRecord({ id: uuid(world.random), from: pass.mode }, nowMs, timings);
}

/** Returns why no migration can start. The control plane stays as it is. */
async function startFault(pass: Pass, wanted: ControlPlaneMode): Promise<Remark | undefined> {
  const { controlPlane, class: ofClass, cache, world, signal } = pass;
  const name = controlPlane.metadata.name!;
  if (!world.migration) {
    const message =
      'this operator cannot migrate control planes between modes, because it runs without the operator of hosted control planes: start Hangar with "hangar up --hosted", or set spec.mode back';
    return unreached('MigrationNotAvailable', message);
  }
  const { modesAllowed = [] } = ofClass?.spec ?? {};
  if (modesAllowed.length > 0 && !modesAllowed.includes(wanted)) {
    const message = `ControlPlaneClass "${ofClass!.metadata.name}" does not allow mode ${wanted}: set spec.mode back, or change the class`;
    return unreached('ModeNotAllowed', message);
  }
  if (pass.deferred)
    return retried('NotReady', `a migration starts when the control plane is ready: ${pass.deferred.message}`);
  const migrating = Array.from(cache.informer(ControlPlane).all()).filter(activeRecord).length;
  if (migrating >= migrationsMax) {
    return retried(
      'TooManyMigrations',
      `${migrating} migrations are in progress, which is the limit: waiting for one of them`,
    );
  }
  if (wanted === 'Virtual') {
    if (pass.isMoved) return undefined;
    const message =
      'the control plane was created with mode Dedicated and has no tenant that keeps its address: set spec.mode back, and create another control plane with mode Virtual';
    return unreached('MigrationNotSupported', message);
  }
  if (name.length > hostedNameLengthMax || name.includes('.')) {
    const message = `a control plane with mode Dedicated must have a DNS label of at most ${hostedNameLengthMax} characters as name: set spec.mode back`;
    return unreached('InvalidName', message);
  }
  if (!(await world.hosted.isServed(signal))) {
    return retried(
      'DedicatedNotAvailable',
      'the management plane does not serve HostedControlPlanes, which mode Dedicated requires',
    );
  }
  return hostedFault(pass);
}

/** The default roles of another minor version differ, and its API server would not start behind the fence. */
async function hostedFault(pass: Pass): Promise<Remark | undefined> {
  const wanted = await wantedOf(pass);
  if ('type' in wanted) return retried(wanted.reason, wanted.message);
  const [version, ofTenant] = [wanted.spec.version ?? '', await pass.world.hostFacts.version()];
  if (minorOf(version) === minorOf(ofTenant)) return undefined;
  const message = `spec.dedicated.version is ${version}: a migration requires the minor version of the virtual control plane, ${minorOf(ofTenant)}; upgrade after the migration`;
  return unreached('VersionNotSupported', message);
}

const minorOf = (version: string): string => /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;

/** A change of an object starts the next pass. */
const unreached = (reason: string, message: string): Remark => ({
  type,
  status: false,
  reason,
  message,
  isAwaited: true,
});
const retried = (reason: string, message: string): Remark => ({ type, status: false, reason, message });
