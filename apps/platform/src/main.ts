/** The composition root: the one place that knows every part. Today it can say what is built. */

import { parts } from './parts.ts';

const width = Math.max(...parts.map((part) => part.name.length));
console.log('Hangar, a home for Kubernetes control planes.\n\nBuilt so far:');
for (const part of parts) console.log(`  ${part.name.padEnd(width)}  ${part.what}`);
console.log('\nThe API server is next: there is nothing to connect to yet. See README.md for what you can try.');
