#!/usr/bin/env node
// `kubectl hangar …`: kubectl starts whatever is called kubectl-<word> with the words behind it.
process.env['HANGAR_PROGRAM'] = 'kubectl hangar';
await import('./hangar.js');
