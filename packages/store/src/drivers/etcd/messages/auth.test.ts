import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage, encodeMessage, unframed } from '../testing/etcd-proto.ts';
import {
  decodeAuthStatus,
  decodeRole,
  decodeUser,
  encodeName,
  encodeRoleGrant,
  encodeRoleRevoke,
  encodeUserAdd,
  encodeUserRole,
} from './auth.ts';

const header = { cluster_id: 7, revision: 9 };

test('requests for users and roles are encoded as protobufjs reads them', () => {
  const permission = { type: 'readwrite', start: '/a', end: '/b' } as const;
  const requests: [type: string, frame: Buffer, content: object][] = [
    ['AuthNameRequest', encodeName('root'), { name: 'root' }],
    ['AuthUserAddRequest', encodeUserAdd('reader'), { name: 'reader', options: { no_password: true } }],
    ['AuthUserRoleRequest', encodeUserRole('reader', 'r'), { user: 'reader', role: 'r' }],
    [
      'AuthRoleGrantPermissionRequest',
      encodeRoleGrant('r', permission),
      { name: 'r', perm: { permType: 2, key: '/a', range_end: '/b' } },
    ],
    ['AuthRoleRevokePermissionRequest', encodeRoleRevoke('r', permission), { role: 'r', key: '/a', range_end: '/b' }],
  ];
  for (const [type, frame, content] of requests) assert.deepEqual(decodeMessage(type, unframed(frame)), content);
});

test('responses contain the status, the roles of a user and the permissions of a role', () => {
  assert.deepEqual(decodeAuthStatus(encodeMessage('AuthStatusResponse', { header, enabled: true, authRevision: 3 })), {
    enabled: true,
  });
  assert.deepEqual(decodeAuthStatus(encodeMessage('AuthStatusResponse', { header })), { enabled: false });
  assert.deepEqual(decodeUser(encodeMessage('AuthUserGetResponse', { header, roles: ['a', 'root'] })), ['a', 'root']);
  const perm = [
    { key: Buffer.from('/a') },
    { permType: 1, key: Buffer.from('/b'), range_end: Buffer.from('\u0000') },
    { permType: 9, key: Buffer.from('/c') },
  ];
  assert.deepEqual(decodeRole(encodeMessage('AuthRoleGetResponse', { header, perm })), [
    { type: 'read', start: '/a', end: '' },
    { type: 'write', start: '/b', end: '\u0000' },
    { type: 'readwrite', start: '/c', end: '' },
  ]);
});
