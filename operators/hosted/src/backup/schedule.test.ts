import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@hangar/client/kinds/core-v1';
import type { EtcdBackup, HostedControlPlane } from '../api/index.ts';
import { isFault } from '../fault.ts';
import { base64 } from '../pki/secrets.ts';
import { scheduleSpec, spreadDaily } from './schedule.ts';

const object = { metadata: { namespace: 'team', name: 'demo', uid: 'u1' } } as HostedControlPlane;
const backup: EtcdBackup = { schedule: '5 3 * * *', secret: { name: 's3' } };
const secret = (data: Record<string, string>, annotations: Record<string, string> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { annotations },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
});
const whole = { host: 'minio.example:9000', region: 'eu-1', bucket: 'backups/etcd' };

test('the Secret becomes the destination of the schedule', () => {
  assert.deepEqual(scheduleSpec(object, backup, secret(whole)), {
    controlPlaneRef: { kind: 'HostedControlPlane', name: 'demo' },
    schedule: '5 3 * * *',
    destination: {
      s3: {
        endpoint: 'https://minio.example:9000',
        region: 'eu-1',
        bucket: 'backups',
        prefix: 'etcd/team/demo',
        credentials: { namespace: 'team', name: 's3' },
      },
    },
    retention: { count: 30 },
  });
});

test('other keys of the Secret are used, and passed on', () => {
  const keys = { hostKey: 'h', regionKey: 'r', bucketKey: 'b', accessKeyIDKey: 'id', secretAccessKeyKey: 'key' };
  const spec = scheduleSpec(
    object,
    { ...backup, secret: { name: 's3', ...keys } },
    secret({ h: 'a.example', b: 'backups' }),
  );
  assert.ok(!isFault(spec));
  const { s3 } = spec.destination;
  assert.deepEqual(
    [s3?.endpoint, s3?.region, s3?.prefix, s3?.credentials],
    [
      'https://a.example',
      undefined,
      'team/demo',
      { namespace: 'team', name: 's3', accessKeyIDKey: 'id', secretAccessKeyKey: 'key' },
    ],
  );
});

test('a Secret that is missing, incomplete or of another namespace is a fault', () => {
  const reason = (given: Secret | undefined, change: Partial<EtcdBackup['secret']> = {}) => {
    const spec = scheduleSpec(object, { ...backup, secret: { ...backup.secret, ...change } }, given);
    return isFault(spec) ? spec.reason : undefined;
  };
  assert.equal(reason(undefined), 'BackupSecretMissing');
  assert.equal(reason(secret({ ...whole, host: '' })), 'BackupSecretInvalid');
  assert.equal(reason(secret({ ...whole, host: 'a/../b' })), 'BackupSecretInvalid');
  assert.equal(reason(secret({ ...whole, bucket: '/' })), 'BackupSecretInvalid');
  const other = { namespace: 'other' };
  assert.equal(reason(undefined, other), 'BackupSecretForbidden');
  assert.equal(reason(secret(whole), other), 'BackupSecretForbidden');
  assert.equal(reason(secret(whole, { 'backup.hangar.dev/allowed-namespaces': 'x, team' }), other), undefined);
});

test('daily backups of many control planes are spread over the hour after midnight', () => {
  const minutes = Array.from({ length: 1_000 }, (_, at) =>
    Number(/^(\d+) 0 \* \* \*$/.exec(spreadDaily(`uid-${at}`))![1]),
  );
  const counts = Map.groupBy(minutes, (minute) => minute);
  assert.equal(counts.size, 60);
  assert.ok(Math.max(...Array.from(counts.values(), ({ length }) => length)) < 50);
});
