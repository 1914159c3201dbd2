/** The steps of each mode in their order. README.md describes each of them. */

import { acceptableDedicated } from '../../dedicated/acceptable.ts';
import { movedHosted } from '../../dedicated/moved.ts';
import { recordedMode } from '../../dedicated/recorded-mode.ts';
import { hostedControlPlane } from '../../dedicated/step.ts';
import { gateway } from '../../gateway/step.ts';
import { modeReached } from '../../migration/mode-reached.ts';
import { suspended } from '../suspended.ts';
import type { Pass, Step } from '../world.ts';
import { acceptable } from './acceptable.ts';
import { addons } from './addons.ts';
import { classOf } from './class.ts';
import { endpoint } from './endpoint.ts';
import { addFinalizer } from './finalizer.ts';
import { inside } from './inside.ts';
import { join } from './join.ts';
import { kubeconfig } from './kubeconfig.ts';
import { namespace } from './namespace.ts';
import { secrets } from './secrets.ts';
import { tenant } from './tenant.ts';

const common: readonly Step[] = [addFinalizer, namespace, recordedMode, classOf];
const afterProvisioning: readonly Step[] = [secrets, join, inside, addons, kubeconfig, suspended, modeReached];

const steps: Readonly<Record<'virtual' | 'dedicated' | 'moved', readonly Step[]>> = {
  virtual: [acceptable, ...common, endpoint, tenant, gateway, ...afterProvisioning],
  dedicated: [acceptableDedicated, ...common, hostedControlPlane, ...afterProvisioning],
  moved: [acceptable, ...common, endpoint, tenant, gateway, movedHosted, ...afterProvisioning],
};

export const stepsOf = ({ mode, isMoved }: Pick<Pass, 'mode' | 'isMoved'>): readonly Step[] =>
  steps[mode === 'Virtual' ? 'virtual' : isMoved ? 'moved' : 'dedicated'];
