import assert from 'node:assert/strict';
import { readChannelTls, readServerTls } from '../../platform/tls.ts';
import { makeCertificates } from '../certificates.ts';
import { forSuite } from '../suite.ts';

describe('TLS files', () => {
  const files = forSuite(makeCertificates);

  it('reads files that belong together, and nothing when nothing is set', () => {
    assert.equal(readServerTls('CORE_TLS', {}), undefined);
    assert.equal(readChannelTls('CORE_TLS', {}), undefined);
    assert.ok(readServerTls('CORE_TLS', { ...files.server, clientCa: files.ca })?.clientCa);
    assert.ok(readChannelTls('CORE_TLS', { ca: files.ca, ...files.client, name: 'core.test' })?.own);
    assert.deepEqual(readChannelTls('CORE_TLS', { ca: 'system' }), {});
  });

  it('names the wrong setting in one line that reveals nothing of the file', async () => {
    const text = await files.write('text.pem', 'hello');
    const { server, client, ended, ca } = files;
    const cases: [() => unknown, RegExp][] = [
      [() => readServerTls('CORE_TLS', { cert: server.cert }), /^CORE_TLS_CERT needs CORE_TLS_KEY$/],
      [() => readServerTls('CORE_TLS', { key: server.key }), /^CORE_TLS_KEY needs CORE_TLS_CERT$/],
      [() => readServerTls('CORE_TLS', { clientCa: ca }), /^CORE_TLS_CLIENT_CA needs CORE_TLS_CERT$/],
      [
        () => readServerTls('CORE_TLS', { cert: server.cert, key: client.key }),
        /^CORE_TLS_KEY does not belong to CORE_TLS_CERT$/,
      ],
      [
        () => readServerTls('CORE_TLS', { cert: '/no/such', key: server.key }),
        /^CORE_TLS_CERT: the file cannot be read \(ENOENT\)$/,
      ],
      [
        () => readServerTls('CORE_TLS', { cert: text, key: server.key }),
        /^CORE_TLS_CERT: the file holds no certificate in PEM$/,
      ],
      [
        () => readServerTls('CORE_TLS', { cert: server.cert, key: text }),
        /^CORE_TLS_KEY: the file holds no private key in PEM/,
      ],
      [() => readServerTls('CORE_TLS', ended), /^CORE_TLS_CERT: the certificate has ended$/],
      [
        () => readServerTls('CORE_TLS', { ...server, clientCa: text }),
        /^CORE_TLS_CLIENT_CA: the file holds no certificate/,
      ],
      [() => readChannelTls('PROCESSOR_TLS', { ca: '/no/such' }), /^PROCESSOR_TLS_CA: the file cannot be read/],
      [() => readChannelTls('PROCESSOR_TLS', { ...client }), /^PROCESSOR_TLS_CERT needs PROCESSOR_TLS_CA$/],
      [() => readChannelTls('PROCESSOR_TLS', { name: 'x' }), /^PROCESSOR_TLS_NAME needs PROCESSOR_TLS_CA$/],
    ];
    for (const [read, message] of cases) assert.throws(read, { message });
  });
});
