/**
 * 11. What the class puts into its control planes. A control plane whose addons cannot be applied is usable: that is said in a condition
 * of its own, and tried again.
 */

import { applyAddons } from '../../addons/apply.ts';
import { asAddonError } from '../../addons/errors.ts';
import { manifestsOf } from '../../addons/manifests.ts';
import { addonsDigest, areAddonsDue } from '../inside-due.ts';
import { annotationOf, secretAnnotations } from '../kept-secret.ts';
import { suspended } from '../suspended.ts';
import type { Pass, Verdict } from '../world.ts';

const addonsApplied = 'AddonsApplied';

export async function addons(pass: Pass): Promise<Verdict | undefined> {
  const { bundles, world, entrance, signal } = pass;
  const names = bundles!.map(({ addon }) => addon).join(', ');
  const said = { type: addonsApplied, status: true, reason: 'Applied', message: names };
  pass.addons = annotationOf(pass.secrets!.kubeconfig, secretAnnotations.addons) ?? '';
  if (areAddonsDue(pass)) {
    const verdict = suspended(pass);
    if (verdict) return verdict;
    try {
      const manifests = manifestsOf(bundles!);
      await applyAddons({
        tenantClient: await entrance.client(),
        manifests,
        clock: world.clock,
        writes: world.writes,
        signal,
      });
      pass.addons = addonsDigest(pass);
    } catch (error) {
      const refusal = asAddonError(error);
      if (!refusal) throw error;
      pass.remarks.push({ ...said, status: false, reason: refusal.code, message: refusal.message });
      return undefined;
    }
  }
  if (names !== '') pass.remarks.push(said);
  else pass.withdrawn.push(addonsApplied);
  return undefined;
}
