/** Which Hangar this is. */

import { release } from '@hangar/api';

export const versionText = `hangar 0.1.0, Kubernetes ${release}`;
