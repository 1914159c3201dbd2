/** The plugins of a control plane, in the order in which they are asked: kube-apiserver's own. */

import type { ControlPlane } from '../control-plane.ts';
import type { AdmissionPlugin } from './admission.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';

export function admissionPlugins(_plane: ControlPlane): AdmissionPlugin[] {
  return [namespaceLifecycle];
}
