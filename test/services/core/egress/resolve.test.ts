import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { LookupFailed, openResolver } from '../../../../services/core/egress/resolve.ts';
import { forSuite } from '../../../suite.ts';
import { openNameServer } from './name-server.ts';

describe('openResolver()', () => {
  const server = forSuite(() =>
    openNameServer({ 'good.test': '192.0.2.7', 'short.search.test': '192.0.2.8', 'other.test': '192.0.2.9' }),
  );
  const directory = forSuite(async () => {
    const path = await mkdtemp(`${tmpdir()}/resolve-`);
    return { path, close: () => rm(path, { recursive: true }) };
  });

  beforeEach(() => {
    server.asked.length = 0;
  });

  it('answers for other names while a hundred wait for a server that is silent', async () => {
    const resolve = openResolver({ servers: server.servers });
    const silent = Array.from({ length: 100 }, (_, index) =>
      assert.rejects(resolve(`x${index}.silent.test`), LookupFailed),
    );
    let given = 0;
    for (const each of silent) void each.then(() => given++);
    assert.deepEqual(await resolve('good.test'), ['192.0.2.7']);
    assert.equal(given, 0, 'none of them was given up before');
    await Promise.all(silent);
  });

  it('looks up a name once, however many ask for it at a time', async () => {
    const resolve = openResolver({ servers: server.servers });
    const answers = await Promise.all(Array.from({ length: 50 }, () => resolve('good.test')));
    assert.deepEqual(answers.at(-1), ['192.0.2.7']);
    assert.deepEqual(server.asked, ['good.test', 'good.test'], 'once for each family');
    await resolve('good.test');
    assert.equal(server.asked.length, 4, 'the answer is not kept');
  });

  it('tells a name that does not exist from one that nobody answered for', async () => {
    const resolve = openResolver({ servers: server.servers, resolvConf: '/nowhere' });
    await assert.rejects(resolve('missing.test'), { code: 'ENOTFOUND' });
    await assert.rejects(resolve('x.silent.test'), LookupFailed);
    const refused = openResolver({ servers: ['127.0.0.1:1'], resolvConf: '/nowhere' });
    await assert.rejects(refused('good.test'), LookupFailed);
  });

  it('reads the hosts file before it asks, and follows the search list', async () => {
    const hosts = `${directory.path}/hosts`;
    const resolvConf = `${directory.path}/resolv.conf`;
    await writeFile(hosts, '# comment\n127.0.0.1\tlocalhost  Merchant # ours\n127.1.x localhost\n::1 localhost\n');
    await writeFile(resolvConf, 'nameserver 192.0.2.1\nsearch nowhere.test search.test\n');
    const resolve = openResolver({ servers: server.servers, hosts, resolvConf });
    assert.deepEqual(await resolve('localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(await resolve('MERCHANT.'), ['127.0.0.1']);
    assert.deepEqual(server.asked, []);
    assert.deepEqual(await resolve('short'), ['192.0.2.8']);
    await assert.rejects(resolve('short.'), { code: 'ENOTFOUND' });
  });
});
