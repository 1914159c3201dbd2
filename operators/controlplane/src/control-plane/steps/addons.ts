/**
 * Step 11: applies the addons of the class. A control plane whose addons cannot be applied is usable: a separate condition reports the
 * problem, and it is retried.
 */

import { applyAddons } from '../../addons/apply.ts';
import { asAddonError } from '../../addons/errors.ts';
import { manifestsOf } from '../../addons/manifests.ts';
import { isKubeconfigDue } from '../../kubeconfig/secret.ts';
import { addonsDigest, areAddonsDue } from '../inside-due.ts';
import { annotationOf, secretAnnotations } from '../kept-secret.ts';
import { suspended } from '../suspended.ts';
import type { Pass, Verdict } from '../world.ts';

const addonsApplied = 'AddonsApplied';

/**
 * Reports whether to apply again: after a change that the host reported, when a resync is due, and with new credentials, in case the host
 * cannot report changes.
 */
function shouldLookAgain(pass: Pass): boolean {
  const { bundles, world, path, secrets, wakeUps, plane } = pass;
  if (bundles!.length === 0) {
    world.drift.forget(path);
    plane!.resync?.forget();
    return false;
  }
  // An API server that is not available is not entered: an event reports that it is available again.
  if (plane!.resync && !pass.deferred && plane!.resync.dueAtMs() <= world.clock.now()) return true;
  const dueMs = pass.plane!.reportsChanges ? world.drift.dueMs(path) : undefined;
  if (dueMs !== undefined && dueMs > 0) wakeUps.push(world.clock.now() + dueMs);
  return dueMs === 0 || isKubeconfigDue(pass, secrets!.kubeconfig);
}

export async function addons(pass: Pass): Promise<Verdict | undefined> {
  const { bundles, world, entrance, plane, signal, path } = pass;
  const names = bundles!.map(({ addon }) => addon).join(', ');
  const said = { type: addonsApplied, status: true, reason: 'Applied', message: names };
  pass.addons = annotationOf(pass.secrets!.kubeconfig, secretAnnotations.addons) ?? '';
  if (areAddonsDue(pass) || shouldLookAgain(pass)) {
    const verdict = suspended(pass);
    if (verdict) return verdict;
    const seen = world.drift.seen(path);
    try {
      const manifests = manifestsOf(bundles!);
      await applyAddons({
        tenantClient: await entrance.client(),
        manifests,
        clock: world.clock,
        writes: world.writes,
        signal,
        onApplied: (item, resourceVersion) => {
          if (plane!.reportsChanges) world.drift.applied({ path, item, resourceVersion });
        },
      });
      pass.addons = addonsDigest(pass);
      world.drift.settled(path, seen);
      plane!.resync?.done();
    } catch (error) {
      const refusal = asAddonError(error);
      if (!refusal) throw error;
      world.drift.settled(path, seen);
      plane!.resync?.done();
      // They are due until they are applied successfully, also if they were applied before.
      pass.addons = '';
      pass.remarks.push({ ...said, status: false, reason: refusal.code, message: refusal.message });
      return undefined;
    }
  }
  if (names === '') pass.withdrawn.push(addonsApplied);
  else {
    pass.remarks.push(said);
    if (plane!.resync && !pass.deferred) pass.wakeUps.push(plane!.resync.dueAtMs());
  }
  return undefined;
}
