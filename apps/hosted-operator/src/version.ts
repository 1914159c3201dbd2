/** The version of this Hangar. */

import { release } from '@hangar/api';

export const version = '0.1.0';
export const versionText = `hangar ${version}, Kubernetes ${release}`;
