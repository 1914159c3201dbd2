/** The oldest kubectl that must work: its discovery, validation and apply go other ways. */

import { conformance } from './suite.ts';

await conformance('kubectl-1.32');
