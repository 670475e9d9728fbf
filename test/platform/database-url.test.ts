import assert from 'node:assert/strict';
import { parseDatabaseUrl } from '../../platform/database-url.ts';

describe('parseDatabaseUrl()', () => {
  it('returns the URL of one server unchanged', () => {
    for (const url of [
      'postgres://u:p@h:5433/db?sslmode=require',
      'postgresql://h/db',
      'postgresql:///db?host=/run/postgresql',
    ]) {
      const { servers, firstUrl } = parseDatabaseUrl(url);
      assert.deepEqual([servers, firstUrl], [[], url]);
    }
  });

  it('reads several servers', () => {
    const url = 'postgresql://u:a%2Cb@h1:5433,h2,[::1]:5434/db?target_session_attrs=read-write&sslmode=require';
    assert.deepEqual(parseDatabaseUrl(url), {
      servers: [
        { host: 'h1', port: 5_433 },
        { host: 'h2', port: 5_432 },
        { host: '::1', port: 5_434 },
      ],
      firstUrl: 'postgresql://u:a%2Cb@h1:5433/db?sslmode=require',
      place: 'h1:5433,h2,[::1]:5434/db',
    });
  });

  for (const [parameters, rest] of [
    ['?target_session_attrs=primary', ''],
    ['?sslmode=require&target_session_attrs=read-write', '?sslmode=require'],
    ['?a=1&target_session_attrs=read-write&b=2', '?a=1&b=2'],
  ] as const) {
    it(`passes ${parameters} on to pg`, () => {
      assert.equal(parseDatabaseUrl(`postgres://h/db${parameters}`).firstUrl, `postgres://h/db${rest}`);
    });
  }

  for (const [url, message] of [
    ['mysql://h/db', /postgresql:/],
    ['postgres://h1:1,h2:x/secret', /host:port,host:port/],
    ['postgres://h1,,h2/secret', /host:port,host:port/],
    ['postgres://u:secret@h1:70000,h2/db', /host:port,host:port/],
    ['postgres://h1,h2/secret?target_session_attrs=any', /read-write or primary/],
    ['postgres://h1/secret?target_session_attrs=standby', /read-write or primary/],
    ['postgres://u:secret/b@h/db', /%2F/],
    ['postgres://u:12/secret@h/db', /%2F/],
    ['postgres://u:12?secret@h/db', /%2F/],
    ['postgres://u:12#secret', /%2F/],
    ['postgres://u:secret%zz@h/db', /%2F/],
    ['postgres://u:secret@h:99999/db', /%2F/],
  ] as const) {
    it(`rejects ${url} without quoting it`, () => {
      assert.throws(
        () => parseDatabaseUrl(url),
        (error: Error) => message.test(error.message) && !/secret/.test(error.message),
      );
    });
  }
});
