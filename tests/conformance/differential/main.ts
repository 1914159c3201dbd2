/** `node tests/conformance/differential/main.ts [--seeds N] [--from S] [--minutes M] [--findings N]` */

import { parseArgs } from 'node:util';
import { campaign } from './campaign.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    minutes: { type: 'string' },
    findings: { type: 'string' },
  },
});
const report = await campaign({
  from: Number(values.from),
  seeds: Number(values.seeds),
  ...(values.minutes === undefined ? {} : { timeMaxMs: Number(values.minutes) * 60_000 }),
  ...(values.findings === undefined ? {} : { findingsMax: Number(values.findings) }),
  tell: (text) => console.log(text),
});
for (const [name, count] of report.known) console.log(`known: ${name} (${count} sequences)`);
const { sequences, requests, accepted, findings, passing } = report;
console.log(`${sequences} sequences, ${requests} requests, ${accepted} accepted by the real server`);
console.log(`${findings.length} differences, ${passing.length} that did not show again`);
process.exitCode = findings.length === 0 ? 0 : 1;
