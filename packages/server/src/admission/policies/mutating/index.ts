/** MutatingAdmissionPolicy: changes objects by CEL expressions, before validation. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type { ControlPlane } from '../../../control-plane.ts';
import type { AdmissionPlugin } from '../../admission.ts';
import { PolicyGate } from '../policy-gate.ts';
import { sharedCompiler } from '../shared-compiler.ts';
import type * as Dispatch from './dispatch.ts';
import { Reinvocation } from './reinvocation.ts';

const require = createRequire(import.meta.url);
const evaluation = lazy(() => require('./dispatch.ts') as typeof Dispatch);
const compiled = sharedCompiler((spec) => evaluation().compilePolicy(spec));

export function mutatingAdmissionPolicy(plane: ControlPlane): AdmissionPlugin {
  const gate = new PolicyGate(plane, {
    policies: 'mutatingadmissionpolicies',
    bindings: 'mutatingadmissionpolicybindings',
    compile: (spec) => compiled(spec, plane.collections.budget),
  });
  return {
    name: 'MutatingAdmissionPolicy',
    mutate(request, rounds) {
      // A deletion has no object to change.
      if (request.operation === 'DELETE') return undefined;
      return gate.admit(request, (selection, attributes) => {
        const reinvocation = rounds.state(gate, () => new Reinvocation());
        return evaluation().dispatch(selection, { attributes, plane, rounds, reinvocation });
      });
    },
    close: () => gate.close(),
  };
}
