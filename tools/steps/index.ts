/** The order of the steps. The first ones only look; the others make something and run under a lock. */

import { cache } from './cache.ts';
import { debian } from './debian.ts';
import { download } from './download.ts';
import { environment } from './environment.ts';
import { goBuild } from './go-build.ts';
import { npmPackage } from './npm-package.ts';
import { path } from './path.ts';
import type { Step } from './step.ts';

export const lookingSteps: readonly Step[] = [environment, path, cache];
export const makingSteps: readonly Step[] = [goBuild, debian, npmPackage, download];
