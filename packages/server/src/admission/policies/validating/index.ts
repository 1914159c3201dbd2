/** ValidatingAdmissionPolicy: denies, warns about or audits writes that violate its expressions. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type { ControlPlane } from '../../../control-plane.ts';
import type { AdmissionPlugin } from '../../admission.ts';
import { PolicyGate } from '../policy-gate.ts';
import { sharedCompiler } from '../shared-compiler.ts';
import type * as Dispatch from './dispatch.ts';

const require = createRequire(import.meta.url);
const evaluation = lazy(() => require('./dispatch.ts') as typeof Dispatch);
const compiled = sharedCompiler((spec) => evaluation().compilePolicy(spec));

export function validatingAdmissionPolicy(plane: ControlPlane): AdmissionPlugin {
  const gate = new PolicyGate(plane, {
    policies: 'validatingadmissionpolicies',
    bindings: 'validatingadmissionpolicybindings',
    compile: (spec) => compiled(spec, plane.collections.budget),
  });
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: (request) =>
      gate.admit(request, (selection, attributes) => evaluation().dispatch(selection, attributes, plane)),
    close: () => gate.close(),
  };
}
