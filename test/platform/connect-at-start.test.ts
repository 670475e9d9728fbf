import assert from 'node:assert/strict';
import { connectAtStart } from '../../platform/database-client.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { openTcpServer } from '../tcp-server.ts';

describe('connectAtStart()', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  const urlWith = (changes: Partial<URL>) => Object.assign(new URL(database.url), changes).href;
  const fails = (url: string, why: RegExp | string) =>
    assert.rejects(connectAtStart(url), ({ message }: Error) => {
      const [, place = '', reason = ''] = /^DATABASE_URL: cannot use the database (\S+): (.*)$/.exec(message) ?? [];
      const { host, pathname, password } = new URL(url);
      assert.equal(place, host + pathname);
      assert.match(reason, new RegExp(why));
      return password === '' || !message.includes(password);
    });

  it('connects', async () => (await connectAtStart(database.url)).end());

  it('says that nothing listens, also at both addresses of localhost', async () => {
    for (const hostname of ['127.0.0.1', 'localhost']) {
      await fails(urlWith({ hostname, port: String(await freePort()) }), /^nothing listens there \(ECONNREFUSED\)$/);
    }
  });

  it('says that the host is not known', () =>
    fails(urlWith({ hostname: 'holdfast.invalid' }), /^the name of the host is not known$/));

  it('says what listens there', async () => {
    await using server = await openTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await fails(urlWith({ hostname: '127.0.0.1', port: String(server.port) }), /^what listens there is no PostgreSQL/);
  });

  it('says what PostgreSQL says of user, password and database', async () => {
    await fails(urlWith({ password: 'another-word' }), /^password authentication failed for user "holdfast"$/);
    await fails(urlWith({ password: '' }), /^it demands a password$/);
    await fails(urlWith({ pathname: '/nowhere' }), /^database "nowhere" does not exist$/);
  });

  it('says what is wrong with TLS', async () => {
    await fails(urlWith({ search: '?sslmode=verify-full' }), /^The server does not support SSL connections$/);
    await fails(urlWith({ search: '?sslmode=verify-full&sslrootcert=/nowhere/ca.pem' }), /no such file.*ca\.pem/);
  });

  it('says it of each of several servers', async () => {
    const { port } = new URL(database.url);
    const closed = await freePort();
    const url = urlWith({ password: 'another-word' }).replace(`:${port}/`, `:${port},127.0.0.1:${closed}/`);
    const reason = `127.0.0.1:${port} password authentication failed for user "holdfast", 127.0.0.1:${closed} nothing `;
    await assert.rejects(connectAtStart(url), ({ message }: Error) => message.includes(reason));
  });
});
