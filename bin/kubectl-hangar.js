#!/usr/bin/env node
// `kubectl hangar …`: kubectl runs the program kubectl-<word> with the remaining arguments.
process.env['HANGAR_PROGRAM'] = 'kubectl hangar';
await import('./hangar.js');
