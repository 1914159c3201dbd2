import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conformance } from '../conformance/index.ts';
import { openSqlite } from './sqlite-database.ts';

conformance({
  name: 'SQLite',
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-activity-'));
    const path = join(folder, 'activity.db');
    const opened = {
      database: await openSqlite(path),
      async reopen() {
        await opened.database.close();
        opened.database = await openSqlite(path);
      },
      async [Symbol.asyncDispose]() {
        await opened.database.close();
        await rm(folder, { recursive: true });
      },
    };
    return opened;
  },
});
