import assert from 'node:assert/strict';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { createDatabase } from '../../../database.ts';

describe('openDatabase()', () => {
  it('does not connect without TLS when its URL requires it', async () => {
    const { url, drop } = await createDatabase();
    // The tests' PostgreSQL has no certificate.
    const opening = openDatabase({ databaseUrl: `${url}?sslmode=verify-full`, poolSize: 1 });
    await assert.rejects(opening, /does not support SSL/);
    await drop();
  });
});
