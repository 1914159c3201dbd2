/** Decides whether a tenant has to be entered: the digests in the Secret differ from the desired ones. */

import { bootstrapOf, insideText } from './bootstrap.ts';
import { digestOf } from './digest.ts';
import { annotationOf, secretAnnotations } from './kept-secret.ts';
import type { Pass } from './world.ts';

export const isInsideDue = async (pass: Pass): Promise<boolean> =>
  annotationOf(pass.secrets!.kubeconfig, secretAnnotations.inside) !== insideText(await bootstrapOf(pass));

/** Also for a control plane that never had an addon: then there is nothing to delete. */
export const areAddonsDue = (pass: Pass): boolean =>
  (annotationOf(pass.secrets!.kubeconfig, secretAnnotations.addons) ?? '') !== addonsDigest(pass);

export const addonsDigest = ({ plane, bundles }: Pass): string =>
  bundles!.length === 0 ? '' : digestOf([plane!.uid, bundles]);
