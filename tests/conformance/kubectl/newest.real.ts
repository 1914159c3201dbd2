/** kubectl of the release whose API Hangar serves. */

import { conformance } from './suite.ts';

await conformance('kubectl');
