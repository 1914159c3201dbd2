/** The steps in their order. README.md describes each of them. */

import { gateway } from '../../gateway/step.ts';
import { suspended } from '../suspended.ts';
import type { Step } from '../world.ts';
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

export const steps: readonly Step[] = [
  acceptable,
  addFinalizer,
  namespace,
  classOf,
  endpoint,
  tenant,
  gateway,
  secrets,
  join,
  inside,
  addons,
  kubeconfig,
  suspended,
];
