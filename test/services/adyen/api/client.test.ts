import assert from 'node:assert/strict';
import { openClient } from '../../../../services/adyen/api/client.ts';
import { serveLocally } from '../../../local-server.ts';

describe("Adyen's client", () => {
  const answers: readonly (readonly [status: number, body: string, is: string])[] = [
    [200, '{"resultCode":"Authorised"}', 'answered'],
    [422, '{"errorCode":"800","message":"Contract not found"}', 'rejected'],
    [404, '', 'rejected'],
    [408, '', 'unknown'],
    [422, '{"errorCode":"8', 'unknown'],
    [502, '', 'unknown'],
  ];
  for (const [status, body, is] of answers) {
    it(`calls ${status} with ${body || 'nothing'} ${is}`, async () => {
      const server = await serveLocally((_, response) => response.writeHead(status).end(body));
      try {
        const settings = { ADYEN_API_BASE: server.url, ADYEN_API_KEY: 'a-key', ADYEN_TIMEOUT_MS: 1_000 };
        const client = openClient(settings, () => undefined);
        assert.equal((await client.post('/payments', {}, 'key', false)).is, is);
      } finally {
        await server.close();
      }
    });
  }
});
