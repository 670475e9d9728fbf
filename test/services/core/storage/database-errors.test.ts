import assert from 'node:assert/strict';
import {
  connectionOptions,
  DatabaseClient,
  StandbyError,
  UnconfirmedCommitError,
} from '../../../../platform/database-client.ts';
import { HoldfastError } from '../../../../services/core/domain/refusal.ts';
import { translateError } from '../../../../services/core/rpc/server/translate-error.ts';
import { isDatabaseAway, isResultLost } from '../../../../services/core/storage/database-errors.ts';

const withCode = (code: string) => Object.assign(new Error('?'), { code });

/** An error, and whether its statement may have been executed. */
const AWAY: Readonly<Record<string, readonly [Error, boolean]>> = {
  'a standby': [new StandbyError('a standby'), false],
  'a read-only database (25006)': [withCode('25006'), false],
  'a server that starts or stops (57P03)': [withCode('57P03'), false],
  'no free connection (53300)': [withCode('53300'), false],
  'a refused connection': [withCode('ECONNREFUSED'), false],
  'a name that is not found': [withCode('ENOTFOUND'), false],
  'a network out of reach': [withCode('ENETUNREACH'), true],
  'a host out of reach': [withCode('EHOSTUNREACH'), true],
  'a host that is down': [withCode('EHOSTDOWN'), true],
  'a reset connection': [withCode('ECONNRESET'), true],
  'a connection that timed out': [withCode('ETIMEDOUT'), true],
  'a terminated backend (57P01)': [withCode('57P01'), true],
  'a commit without confirmation (08007)': [new UnconfirmedCommitError(), true],
  "pg's time limit of a statement": [new Error('Query read timeout'), true],
  "pg's time limit of a connection": [new Error('timeout expired'), false],
  "the pool's time limit of a connection": [new Error('timeout exceeded when trying to connect'), false],
};

describe('an unavailable database', () => {
  for (const [name, [error, isLost]] of Object.entries(AWAY)) {
    it(`is ${name}`, () => {
      assert.equal(isDatabaseAway(error), true);
      assert.equal(isResultLost(error), isLost);
      const { cause } = translateError(error);
      assert(cause instanceof HoldfastError && cause.code === 'UNAVAILABLE' && cause.details.retryAfterS === 1);
    });
  }

  // As after a change of the role's password, or with a certificate of the server that is not trusted.
  for (const [name, part, other] of [
    ['whose role the server refuses', 'username', 'nobody'],
    ['without the TLS that it demands', 'search', '?sslmode=verify-full&sslrootcert=package.json'],
  ] as const) {
    it(`is a connection ${name}: nothing was sent`, async () => {
      const url = new URL(process.env.TEST_DATABASE_URL ?? assert.fail());
      url[part] = other;
      const isUnsent = (error: unknown) => isDatabaseAway(error) && !isResultLost(error);
      await assert.rejects(new DatabaseClient(connectionOptions(url.href)).connect(), isUnsent);
    });
  }

  it('is neither a violated constraint nor a bug', () => {
    for (const error of [withCode('23505'), withCode('42601'), new TypeError('?'), 'text']) {
      assert.equal(isDatabaseAway(error), false);
      assert.equal(isResultLost(error), false);
    }
  });
});
