import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand } from './expand.ts';

test('$(NAME) is replaced by the variable, unknown names and escapes stay as they are written', () => {
  const variables = { POD: 'web-0', EMPTY: '' };
  const cases: [string, string][] = [
    ['$(POD)', 'web-0'],
    ['--name=$(POD)-$(POD)', '--name=web-0-web-0'],
    ['$(EMPTY)', ''],
    ['$(OTHER)', '$(OTHER)'],
    ['$$(POD)', '$(POD)'],
    ['$$$(POD)', '$web-0'],
    ['$POD ${POD} $', '$POD ${POD} $'],
    ['$(POD', '$(POD'],
    ['$(toString)', '$(toString)'],
  ];
  for (const [text, expected] of cases) assert.equal(expand(text, variables), expected, text);
});
