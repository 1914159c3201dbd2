/** kubectl of the release whose API Hangar serves, on the management plane and inside a tenant. */

import { conformance, managementPlane, tenant } from './suite.ts';

await conformance('kubectl', { ...managementPlane, ...tenant });
