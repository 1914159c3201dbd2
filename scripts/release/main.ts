/** `npm run release -- --check` compares all places that contain the version. `npm run release -- 0.2.0` sets it. See RELEASE.md. */

import { fileURLToPath } from 'node:url';
import { readCommandLine, runCommand, Usage } from '../command-line.ts';
import { setVersion, versionOf, versionProblems } from './versions.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

await runCommand(async () => {
  const { values, names } = readCommandLine(process.argv.slice(2), {
    usage: 'npm run release --',
    options: { check: { help: 'only compare the places that contain the version' } },
    namesHelp: '[VERSION]',
  });
  const [next, ...more] = names;
  if (values.check ? next !== undefined : next === undefined || more.length > 0) {
    throw new Usage('give either --check or one version', 2);
  }
  if (next !== undefined) {
    if (!/^\d+\.\d+\.\d+$/.test(next)) throw new Usage(`"${next}" is not a version such as 0.2.0`, 2);
    setVersion(root, next);
    console.log(`version ${next}; now: npm install --package-lock-only && npm run generate -- manifests`);
  }
  const problems = versionProblems(root);
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(`all files have the version ${versionOf(root)}`);
  return problems.length === 0;
});
