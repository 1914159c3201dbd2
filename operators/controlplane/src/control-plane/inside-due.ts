/** Whether a tenant has to be entered: what is inside, by the Secret's word, is not what should be. */

import { bootstrapOf, insideText } from './bootstrap.ts';
import { digestOf } from './digest.ts';
import { annotationOf, secretAnnotations } from './kept-secret.ts';
import type { Pass } from './world.ts';

export const isInsideDue = async (pass: Pass): Promise<boolean> =>
  annotationOf(pass.secrets!.kubeconfig, secretAnnotations.inside) !== insideText(await bootstrapOf(pass));

/** Of a control plane that never had one, too: then there is nothing to take away. */
export const areAddonsDue = (pass: Pass): boolean =>
  (annotationOf(pass.secrets!.kubeconfig, secretAnnotations.addons) ?? '') !== addonsDigest(pass);

export const addonsDigest = ({ tenant, bundles }: Pass): string =>
  bundles!.length === 0 ? '' : digestOf([tenant!.metadata.uid, bundles]);
