import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizerType, compile, kubernetesEnvironment } from '@hangar/cel';
import type { Judgement } from '../../auth/authorize.ts';
import type { User } from '../../auth/user.ts';
import type { RequestInfo } from '../../request/info.ts';
import type { AdmissionRequest } from '../admission.ts';
import { authorizerBindings, PendingAnswer } from './authorizer.ts';

const environment = kubernetesEnvironment({ authorizer: authorizerType });
const jane: User = { name: 'jane', uid: '', groups: ['system:authenticated'], extra: {} };

/** A request by jane; `judge` answers her further authorization checks. */
const request = (judge: (user: User, info: RequestInfo) => Judgement | Promise<Judgement>): AdmissionRequest =>
  ({
    guard: { judge },
    user: jane,
    resource: { group: '', name: 'pods' },
    subresource: '',
    namespace: 'default',
    name: 'a',
  }) as unknown as AdmissionRequest;

test('a service account that is asked about was not authenticated', () => {
  const asked: User[] = [];
  const bindings = authorizerBindings(
    request((user) => {
      asked.push(user);
      return { decision: 'allow', reason: '' };
    }),
  );
  const source = `authorizer.serviceAccount('default', 'robot').path('/x').check('get').allowed()`;
  assert.equal(compile(source, environment).evaluate(bindings).value, true);
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:default'];
  assert.deepEqual(asked, [{ name: 'system:serviceaccount:default:robot', uid: '', groups, extra: {} }]);
});

test('an answer that takes its time breaks the evaluation off once', async () => {
  let asked = 0;
  const bindings = authorizerBindings(
    request(async () => {
      asked++;
      return { decision: 'deny', reason: 'no' };
    }),
  );
  const program = compile(`authorizer.path('/x').check('get').reason()`, environment);
  const pending = (): PendingAnswer => {
    try {
      assert.fail(`answered at once: ${String(program.evaluate(bindings).value)}`);
    } catch (error) {
      if (error instanceof PendingAnswer) return error;
      throw error;
    }
  };
  await pending().answered;
  assert.equal(program.evaluate(bindings).value, 'no');
  assert.equal(asked, 1);
});
